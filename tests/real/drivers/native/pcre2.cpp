// pcre2: a pattern compiled for each search, never freed. The control frees it.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <cstdlib>
#include <cstring>
#include <string>
#include "beside.hpp"

static bool control;

static int search(Beside& work) {
  const std::string pattern = "(order|invoice)-" + std::to_string(work.random(100000)) + "(-[a-z]+)?";
  int error;
  PCRE2_SIZE offset;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.c_str()), pattern.size(), 0, &error, &offset, nullptr);
  pcre2_match_data* data = pcre2_match_data_create_from_pattern(code, nullptr);
  const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>("order-77-open"), 13, 0, 0, data, nullptr);
  pcre2_match_data_free(data);
  if (control) pcre2_code_free(code);
  return found;
}

int main(int, char** words) {
  const int steps = std::atoi(words[1]), per_step = std::atoi(words[2]);
  control = std::strcmp(words[3], "control") == 0;
  Beside work;
  for (int i = 0; i < steps * per_step; ++i) {
    search(work);
    for (int k = 0; k < 5; ++k) work.request();
  }
}
