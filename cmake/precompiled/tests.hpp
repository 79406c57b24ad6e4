// What most tests include.
#include <catch2/catch.hpp>

#include "standard_library.hpp"
