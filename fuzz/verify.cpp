// Verification of a run's folder in which one file was exchanged: the first byte says which, and whether it
// is a file at all.
#include <filesystem>

#include "support/draw.h"
#include "support/good_run.h"
#include "train/verify_run.h"

using namespace ration;
namespace fs = std::filesystem;

namespace {

enum class Damage { other_bytes, absent, folder };

void damage(const fuzz::Folder& folder, const std::string& name, Damage how, std::string_view bytes) {
  fs::remove_all(folder.path(name));
  if (how == Damage::other_bytes) folder.write(name, bytes);
  if (how == Damage::folder) fs::create_directory(folder.path(name));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  fuzz::Draw draw(data, size);
  const std::uint8_t choice = draw.byte();
  const auto& names = fuzz::names_in_good_run();
  const std::string& name = names[choice % names.size()];
  const auto how = static_cast<Damage>(choice / names.size() % 3);
  folder.clear();
  for (const std::string& one : names) folder.write(one, fuzz::read_good_run(one));
  damage(folder, name, how, draw.rest());
  fuzz::accepts_or_refuses([&] {
    const RunVerification found = verify_run(folder.path(""), {.data = folder.path("rows.csv"),
                                                               .ledger = folder.path("ledger.db"),
                                                               .key = folder.path("public.pem")});
    for (const std::string& problem : found.problems)
      fuzz::expect(problem.find_first_of("\n\r\t\x1b") == problem.npos,
                   "a problem of several lines: " + problem);
  });
  return 0;
}
