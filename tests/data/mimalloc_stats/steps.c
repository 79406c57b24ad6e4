#include <mimalloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef JSON
#include <mimalloc-stats.h>
#endif
static void* keep[4000];
int main(void) {
  int n = 0;
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 1000; ++i) {
      keep[n] = mi_malloc(1000);
      memset(keep[n], 1, 1000);
      ++n;
    }
    if (step == 1) {
      keep[n] = mi_malloc(40u << 20);
      memset(keep[n], 1, 4096);
      ++n;
    }
    fprintf(stderr, "step %d\n", step);
    mi_stats_print(NULL);
#ifdef JSON
    char* j = mi_stats_get_json(0, NULL);
    fputs(j, stdout);
    mi_free(j);
#endif
  }
  return 0;
}
