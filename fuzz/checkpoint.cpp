// Checkpoints: what is read is written and read back as the same; the seal is looked at without a crash.
#include "train/checkpoint.h"

#include "support/fuzz.h"

using namespace ration;

namespace {

std::string seal(std::string_view) {
  return "0123456789abcdef";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  fuzz::accepts_or_refuses([&] {
    const std::string written = to_json(checkpoint_from_json(text, "state.json"), seal);
    fuzz::expect(to_json(checkpoint_from_json(written, "state.json"), seal) == written,
                 "a checkpoint reads back as another");
  });
  fuzz::accepts_or_refuses([&] { StoredCheckpoint(std::string(text), "state.json").open(seal); });
  return 0;
}
