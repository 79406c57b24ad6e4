/* Two threads that keep blocks in their own arenas, then /proc/self/smaps as it is: cc -pthread threads.c && ./a.out > smaps.threads */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_barrier_t filled, done;
static void* work(void* bytes) {
  char stack[40000];
  memset(stack, 1, sizeof stack);
  for (long i = 0; i < (long)bytes / 1000; ++i) memset(malloc(1000), 1, 1000);
  pthread_barrier_wait(&filled);
  pthread_barrier_wait(&done);
  return stack[77] ? 0 : bytes;
}
int main(void) {
  pthread_t thread[2];
  pthread_barrier_init(&filled, 0, 3);
  pthread_barrier_init(&done, 0, 3);
  for (long i = 0; i < 2; ++i) pthread_create(&thread[i], 0, work, (void*)(i * 2000000 + 1000000));
  pthread_barrier_wait(&filled);
  FILE* map = fopen("/proc/self/smaps", "r");
  char line[4096];
  while (fgets(line, sizeof line, map)) fputs(line, stdout);
  pthread_barrier_wait(&done);
  return 0;
}
