// jansson: json_object_set of a value just made, where json_object_set_new hands the reference over. The control uses
// the latter.
#include <gperftools/heap-profiler.h>
#include <jansson.h>
#include <cstdlib>
#include <cstring>
#include "beside.hpp"

static bool control;

static size_t answer(Beside& work) {
  json_t* body = json_object();
  json_t* rows = json_array();
  for (uint64_t i = 0; i < 5 + work.random(10); ++i)
    json_array_append_new(rows, json_integer(static_cast<json_int_t>(i)));
  if (control)
    json_object_set_new(body, "rows", rows);
  else
    json_object_set(body, "rows", rows);
  char* text = json_dumps(body, JSON_COMPACT);
  const size_t size = std::strlen(text);
  std::free(text);
  json_decref(body);
  return size;
}

int main(int, char** words) {
  const int steps = std::atoi(words[1]), per_step = std::atoi(words[2]);
  control = std::strcmp(words[3], "control") == 0;
  HeapProfilerStart("heap");
  Beside work;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < per_step; ++i) {
      answer(work);
      for (int k = 0; k < 5; ++k) work.request();
    }
    HeapProfilerDump("step");
  }
  HeapProfilerStop();
}
