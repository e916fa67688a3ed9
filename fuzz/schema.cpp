// Schemas: what is read is written as TOML and read back as the same.
#include "ration/data/schema.h"

#include "support/fuzz.h"

using namespace ration;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string written;
  const bool taken = fuzz::accepts_or_refuses(
      [&] { written = data::to_toml(data::parse_schema(fuzz::as_text(data, size), "schema.toml")); });
  if (!taken) return 0;
  fuzz::accepts_or_refuses([&] {
    fuzz::expect(data::to_toml(data::parse_schema(written)) == written, "a schema reads back as another");
  });
  return 0;
}
