#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flags/cli11.h"
#include "ration/train/plan.h"

namespace ration::cli {

// The values that a key of a plan takes, for shell completion and the manual.
void offer_choices(CLI::Option* option, const PlanKey& key);

// Every key of a plan as a flag, --plan FILE, and the data as a word; flags win over the file.
class PlanFlags {
 public:
  // The object must outlive the command.
  void add_to(CLI::App& command);
  // The same for a command whose word is the plan itself: a file, or the folder of a run.
  void add_with_plan_word_to(CLI::App& command);
  Plan read() const;
  // Whether --data, or a word, names the rows.
  bool names_data() const { return data_ || has_data_flag(); }
  // The first of them that was given; empty if none was.
  std::string first_given() const;

 private:
  void add_keys_to(CLI::App& command);
  bool has_data_flag() const;
  std::optional<std::string> plan_file() const;

  std::optional<std::string> data_, plan_, plan_word_;
  std::vector<std::optional<std::string>> values_;  // one for each key
};

}  // namespace ration::cli
