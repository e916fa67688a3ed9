// Ledgers: the bytes of an SQLite file if the first byte is even; if it is odd, patches of a good ledger: two
// bytes for the place, one for the length, the new bytes.
#include "ration/privacy/ledger.h"

#include <filesystem>

#include "support/draw.h"
#include "support/good_run.h"

using namespace ration;

namespace {

std::string patched(std::string bytes, fuzz::Draw& draw) {
  while (!draw.is_empty()) {
    const std::size_t place = draw.word(2) % bytes.size();
    const std::string_view patch = draw.take(1 + draw.below(16));
    bytes.replace(place, std::min(patch.size(), bytes.size() - place), patch);
  }
  return bytes;
}

void look(const Ledger& ledger) {
  ledger.states();
  ledger.runs();
  ledger.fingerprint("0123456789abcdef");
  ledger.knows("0123456789abcdef");
}

void use(Ledger& ledger) {
  for (const LedgerState& state : ledger.states()) {
    fuzz::expect(state.spent.epsilon >= 0 && state.remaining.epsilon >= 0, "a ledger with less than nothing");
    (void)ledger.reserve({.data_hash = state.data.hash, .budget = {1e-3, 0}, .what = "a run"});
  }
  ledger.add({.hash = "fedcba9876543210", .name = "more", .total = {1, 1e-6}});
  (void)ledger.reserve({.data_hash = "fedcba9876543210", .budget = {0.5, 1e-7}, .what = "a run"});
  look(ledger);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  static const std::string good = fuzz::read_good_run("ledger.db");
  fuzz::Draw draw(data, size);
  const std::string bytes = draw.flag() ? patched(good, draw) : std::string(draw.rest());
  folder.clear();
  const std::string file = folder.write("ledger.db", bytes);
  fuzz::accepts_or_refuses([&] { look(Ledger::open_to_read(file)); });
  fuzz::accepts_or_refuses([&] {
    Ledger ledger(file);
    use(ledger);
  });
  return 0;
}
