// jq: a filter trims a prefix off values that are often numbers. The control trims only strings.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "beside.hpp"
extern "C" {
#include <jq.h>
#include <jv.h>
int mallctl(const char*, void*, size_t*, void*, size_t) __attribute__((weak));
}

static void trim_prices(jq_state* filter, Beside& work) {
  jv row = jv_array();
  for (int i = 0; i < 8; ++i) row = jv_array_append(row, jv_number(static_cast<double>(work.random(1000))));
  row = jv_array_append(row, jv_string("EUR 12"));
  jq_start(filter, row, 0);
  for (jv result = jq_next(filter); jv_is_valid(result); result = jq_next(filter)) jv_free(result);
}

int main(int, char** words) {
  const int steps = std::atoi(words[1]), per_step = std::atoi(words[2]);
  const bool control = std::strcmp(words[3], "control") == 0;
  Beside work;
  jq_state* filter = jq_init();
  if (!jq_compile(filter, control ? "map(if type == \"string\" then ltrimstr(\"EUR \") else . end)"
                                  : "map(ltrimstr(\"EUR \"))"))
    return 1;
  for (int step = 1; step <= steps; ++step) {
    for (int i = 0; i < per_step; ++i) {
      trim_prices(filter, work);
      for (int k = 0; k < 5; ++k) work.request();
    }
    char name[32];
    std::snprintf(name, sizeof name, "heap.%03d.heap", step);
    const char* path = name;
    if (mallctl) mallctl("prof.dump", nullptr, nullptr, &path, sizeof path);
  }
  jq_teardown(&filter);
}
