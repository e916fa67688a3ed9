#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ration/train/plan.h"

namespace ration::cli {

// The values that a key of a plan takes, for shell completion and the manual.
void offer_choices(CLI::Option* option, const PlanKey& key);

// Every key of a plan as a flag, --plan FILE, and the data as a word; flags win over the file.
class PlanFlags {
 public:
  // The object must outlive the command.
  void add_to(CLI::App& command);
  Plan read() const;
  // The first of them that was given; empty if none was.
  std::string first_given() const;

 private:
  bool has_data_flag() const;

  std::optional<std::string> data_, plan_;
  std::vector<std::optional<std::string>> values_;  // one for each key
};

}  // namespace ration::cli
