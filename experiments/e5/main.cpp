#include <fmt/format.h>

#include <exception>

#include "quadratics.h"

int main() {
  try {
    ration::e5::study_quadratics(0.05, 100, 1);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "e5: {}\n", error.what());
    return 1;
  }
}
