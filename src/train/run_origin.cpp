#include "train/run_origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/atomic_file.h"
#include "base/user_key.h"
#include "data/content_hash.h"
#include "data/data_hash.h"
#include "data/named_data.h"
#include "ration/base/error.h"
#include "ration/train/plan.h"
#include "train/private_rows.h"

namespace ration {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhatToDo =
    "measure on them by --epsilon EPSILON, which costs budget, or take other rows";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

fs::path folder_of(const std::string& run) {
  const fs::path path = fs::absolute(run).lexically_normal();
  if (fs::is_directory(path)) return path.has_filename() ? path : path.parent_path();
  return path.parent_path();
}

std::optional<Certificate> certificate_in(const fs::path& folder) {
  const fs::path file = folder / "certificate.json";
  if (!is_there(file)) return std::nullopt;
  try {
    return certificate_from_json(read_file(file.string()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

// A second hint; the certificate has the first.
std::string ledger_in_plan(const fs::path& file) {
  try {
    return is_there(file) ? read_plan(file.string()).ledger : "";
  } catch (const InputError&) {
    return "";
  }
}

// A pipe can be read once, and that is for whoever measures.
bool can_be_read_twice(const std::string& data) {
  const std::vector<std::string> files = data::files_of(data);
  return std::all_of(files.begin(), files.end(),
                     [](const std::string& file) { return fs::is_regular_file(file); });
}

// Where a path that a run wrote down may lead today: from here, from the run's folder and from beside it; and
// by its name alone, if the whole was moved.
std::vector<fs::path> places_of(const fs::path& path, const fs::path& run) {
  const fs::path beside = run.parent_path();
  return {path, run / path, beside / path, path.filename(), run / path.filename(), beside / path.filename()};
}

}  // namespace

RunOrigin::RunOrigin(const std::string& run)
    : folder_(folder_of(run)), certificate_(certificate_in(folder_)) {}

bool RunOrigin::is_the_ledger(const Ledger& ledger) const {
  const std::string& stated = certificate_->data_hash;
  const std::string fingerprint = data::is_plain_data_hash(stated)
                                      ? ledger.fingerprint(stated)
                                      : std::string(data::fingerprint_in(stated));
  const std::vector<LedgerRun> runs = ledger.runs();
  return std::any_of(runs.begin(), runs.end(), [&](const LedgerRun& run) {
    return run.id == certificate_->ledger->run && (stated.empty() || run.data_hash == fingerprint);
  });
}

std::optional<std::string> RunOrigin::found_ledger() const {
  std::vector<fs::path> places = places_of(certificate_->ledger->file, folder_);
  if (const std::string ledger = ledger_in_plan(folder_ / "plan.toml"); !ledger.empty()) {
    const std::vector<fs::path> more = places_of(ledger, folder_);
    places.insert(places.end(), more.begin(), more.end());
  }
  for (const fs::path& place : places) {
    if (!is_there(place)) continue;
    try {
      if (is_the_ledger(Ledger::open_to_read(place.string()))) return place.string();
    } catch (const InputError&) {
      // Something else of that name.
    }
  }
  return std::nullopt;
}

std::string RunOrigin::ledger() const {
  if (!certificate_ || !certificate_->ledger) return "";
  if (auto found = found_ledger()) return *found;
  throw InputError(fmt::format(
      "evaluate: the run was charged to the ledger {} (run {}), which is not to be found; name it "
      "by --ledger FILE, or give --no-ledger if nobody keeps account of these rows",
      certificate_->ledger->file, certificate_->ledger->run));
}

bool RunOrigin::is_trained_on(const std::string& data) const {
  const std::vector<std::string> hashes = data::content_hashes(data::files_of(data));
  if (const fs::path file = folder_ / kPrivateRows; is_there(file)) {
    const auto key = user_key();
    if (key && lists_private_rows(read_file(file.string()), hashes, *key, file.string())) return true;
  }
  std::optional<Ledger> ledger;
  if (certificate_->ledger) {
    if (const auto found = found_ledger()) ledger.emplace(Ledger::open_to_read(*found));
  }
  return data::same_data(certificate_->data_hash, data, ledger ? &*ledger : nullptr).value_or(false);
}

void RunOrigin::refuse_rows_of_the_run(const std::string& data) const {
  const bool promised = certificate_ && certificate_->not_private.empty();
  if (!promised || !can_be_read_twice(data) || !is_trained_on(data)) return;
  throw InputError(
      fmt::format("{}: not public: the run in {} was trained on these very rows with privacy; {}", data,
                  folder_.string(), kWhatToDo));
}

void RunOrigin::refuse_private_rows(const std::string& data) const {
  refuse_rows_of_the_run(data);
  if (!certificate_ || !certificate_->ledger || !can_be_read_twice(data)) return;
  if (const auto ledger = found_ledger()) refuse_rows_of_ledger(*ledger, data);
}

void refuse_rows_of_ledger(const std::string& ledger_file, const std::string& data) {
  if (!can_be_read_twice(data)) {
    throw InputError(fmt::format("{}: expected a file, so that its rows can be looked for in the ledger {}",
                                 data, ledger_file));
  }
  const Ledger ledger = Ledger::open_to_read(ledger_file);
  for (const std::string& hash : data::content_hashes(data::files_of(data))) {
    if (!ledger.knows(hash)) continue;
    throw InputError(
        fmt::format("{}: not public: {} has a budget for these rows; {}", data, ledger_file, kWhatToDo));
  }
}

}  // namespace ration
