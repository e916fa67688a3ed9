// Protectors, as they are and with the hash that makes their content count as whole.
#include "methods/protector.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "support/fuzz.h"

using namespace ration;

namespace {

void read(std::string_view text) {
  fuzz::accepts_or_refuses([&] {
    // Weights are written with six digits, so what is compared was written once.
    const std::string written = to_json(protector_from_json(text, "a.protector"));
    fuzz::expect(to_json(protector_from_json(written, "a.protector")) == written,
                 "a protector reads back as another");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  read(text);
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) return 0;
  json.erase("sha256");
  json["sha256"] = sha256(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  read(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return 0;
}
