#include <cstdlib>
#include <cstring>
struct Node { Node* next; char text[56]; };
static void* keep(std::size_t n) { void* p = std::malloc(n); std::memset(p, 1, n); return p; }
void leak_rows(int n) { for (int i = 0; i < n; ++i) keep(128); }
void leak_table() { keep(4096); }
int main() { leak_rows(10); leak_table(); for (int i = 0; i < 3; ++i) new Node(); return 0; }
