// Plans: what is read is written as TOML and read back as the same.
#include "ration/train/plan.h"

#include "support/fuzz.h"

using namespace ration;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Plan plan;
  const bool taken =
      fuzz::accepts_or_refuses([&] { plan = parse_plan(fuzz::as_text(data, size), "plan.toml"); });
  if (!taken) return 0;
  fuzz::accepts_or_refuses(
      [&] { fuzz::expect(parse_plan(to_toml(plan), "plan.toml") == plan, "a plan reads back as another"); });
  return 0;
}
