/* Leaks lists: each step loses one head (16 bytes, definitely) that holds a payload (1000 bytes,
   indirectly); a table in a static variable grows by 24 bytes (still reachable), and one block is held by
   a pointer into its middle (possibly lost). A leak check at the end of each step. */
#include <stdlib.h>
#include <valgrind/memcheck.h>

struct node { struct node* next; char* payload; };
static void* table[8];
static char* middle[8];

static char* make_payload(void) { return malloc(1000); }

static void leak_list(void) {
  struct node* volatile head = malloc(sizeof(struct node));
  head->next = NULL;
  head->payload = make_payload();
  head = NULL;
}

static void keep(int step) { table[step] = malloc(24); }
static void keep_middle(int step) { middle[step] = (char*)malloc(400) + 100; }

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 3;
  for (int step = 0; step < steps; ++step) {
    leak_list();
    keep(step);
    keep_middle(step);
    VALGRIND_DO_LEAK_CHECK;
  }
  return 0;
}
