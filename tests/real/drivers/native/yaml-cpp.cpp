// yaml-cpp: a job writes its progress into the document of the process. The control writes a document of its own each
// time.
#include <unistd.h>
#include <yaml-cpp/yaml.h>
#include <cstdlib>
#include <cstring>
#include "beside.hpp"

static void save_progress(YAML::Node& state, int job, int percent) {
  state["job"] = job;
  state["percent"] = percent;
}

int main(int, char** words) {
  const int steps = std::atoi(words[1]), per_step = std::atoi(words[2]);
  const bool control = std::strcmp(words[3], "control") == 0;
  Beside work;
  YAML::Node state;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < per_step; ++i) {
      if (control) state = YAML::Node();
      if (control) state.reset();
      save_progress(state, step, i);
      for (int k = 0; k < 5; ++k) work.request();
    }
    usleep(60000);
  }
}
