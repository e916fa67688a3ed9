// Models: what is read is written and read back as the same.
#include "ration/train/model.h"

#include "support/fuzz.h"

using namespace ration;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accepts_or_refuses([&] {
    const std::string written = to_json(model_from_json(fuzz::as_text(data, size), "model.json"));
    fuzz::expect(to_json(model_from_json(written, "model.json")) == written, "a model reads back as another");
  });
  return 0;
}
