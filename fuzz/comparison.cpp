// Comparisons of methods: all that is chosen by default is checked and written.
#include "compare/comparison.h"

#include "support/fuzz.h"

using namespace ration;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accepts_or_refuses([&] {
    compare::Comparison comparison = compare::parse_comparison(fuzz::as_text(data, size), "comparison.toml");
    compare::to_toml(comparison);
    compare::choose_data(comparison, {}, "--data");
    compare::choose_models(comparison, {}, "--models");
    compare::choose_methods(comparison, {}, "--methods");
  });
  return 0;
}
