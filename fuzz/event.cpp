// Events as JSON: what is read is written and read back as the same, and can be described and taken apart.
#include "privacy/event_json.h"
#include "ration/privacy/accountant.h"
#include "support/fuzz.h"

using namespace ration;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accepts_or_refuses([&] {
    const Event event = event_from_json(fuzz::as_text(data, size));
    fuzz::expect(event_from_json(to_json(event)) == event, "an event reads back as another");
    event.describe();
    flatten(event);
    for (const Accountant accountant : kAccountants) {
      for (const Relation relation : {Relation::add_remove, Relation::replace_one})
        refusal(event, relation, accountant);
    }
  });
  return 0;
}
