#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ration/privacy/certificate.h"
#include "ration/privacy/ledger.h"

namespace ration {

// What a saved run says of the rows it was made from: its certificate, its plan and private-rows.json.
// Nothing is known of a model that has no certificate beside it.
class RunOrigin {
 public:
  // The folder of a run, or its model.json. InputError if there is a certificate that cannot be read.
  explicit RunOrigin(const std::string& run);

  // The ledger that was charged for the run; empty if there was none. It is looked for where plan and
  // certificate say, from the current folder, the run's folder and the one that folder is in, and is the
  // right one if it has the run, on the same data. InputError, saying what would do, if it is not to be
  // found.
  std::string ledger() const;

  // InputError if `data`, as --data names it, is what the run was trained on with privacy: by the
  // certificate, where that can be told, or by private-rows.json.
  // Also if the run's ledger, where it is found, knows these rows.
  void refuse_private_rows(const std::string& data) const;

 private:
  std::optional<std::string> found_ledger() const;
  bool is_the_ledger(const Ledger& ledger) const;
  bool is_trained_on(const std::string& data) const;
  void refuse_rows_of_the_run(const std::string& data) const;

  std::filesystem::path folder_;
  std::optional<Certificate> certificate_;
};

// InputError if this ledger has a budget for `data`, as --data names it, or for one of its files: what was
// private once is not public later. A pipe is refused, since nobody could read the rows again.
void refuse_rows_of_ledger(const std::string& ledger_file, const std::string& data);

}  // namespace ration
