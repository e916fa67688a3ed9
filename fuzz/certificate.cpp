// Certificates as JSON: what is read is written and read back as the same; all of it can be put into words.
#include "ration/privacy/certificate.h"

#include "support/fuzz.h"

using namespace ration;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accepts_or_refuses([&] {
    const Certificate certificate = certificate_from_json(fuzz::as_text(data, size));
    const std::string written = to_json(certificate);
    fuzz::expect(to_json(certificate_from_json(written)) == written, "a certificate reads back as another");
    to_text(certificate);
  });
  return 0;
}
