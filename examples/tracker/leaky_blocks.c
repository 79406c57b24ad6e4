/* Live heap blocks by call site, one snapshot a step, as a snapdiff-tracker file. Leaks 10 blocks of 64 bytes a step. */
#include <stdio.h>
#include <stdlib.h>
static struct { const char* function; int line; long count, bytes; } site[] = {{"make_session", 10, 0, 0}, {"fill_cache", 11, 0, 0}};
static void* track(int at, long size) { site[at].count += 1; site[at].bytes += size; return malloc((size_t)size); }
int main(int argc, char** argv) {
  FILE* out = argc > 1 ? fopen(argv[1], "wb") : stdout;
  fprintf(out, "{\"k\":\"header\",\"format\":\"snapdiff-tracker\",\"version\":1,\"producer\":\"leaky_blocks.c\"}\n");
  for (int step = 0; step < 8; ++step) {
    for (int i = 0; i < 10; ++i) track(0, 64);
    if (step == 0) track(1, 4096);
    fprintf(out, "{\"k\":\"snapshot\",\"id\":\"step-%d\",\"seq\":%d}\n", step, step);
    for (int at = 0; at < 2; ++at)
      fprintf(out, "{\"k\":\"live\",\"stack\":[\"%s (leaky_blocks.c:%d)\",\"main\"],\"count\":%ld,\"bytes\":%ld}\n",
              site[at].function, site[at].line, site[at].count, site[at].bytes);
    fprintf(out, "{\"k\":\"end\",\"id\":\"step-%d\",\"rows\":2}\n", step);
  }
  return fclose(out);
}
