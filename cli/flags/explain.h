#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flags/cli11.h"
#include "ration/base/names.h"

namespace ration::cli {

// One value that a flag takes, and what it means (may be empty).
struct Choice {
  std::string name;
  std::string help;
};

// A file that a command leaves behind.
struct KnownFile {
  std::string name;
  std::string help;
};

// What is said of a command below its flags.
struct Explanation {
  std::string about = {};     // paragraphs, separated by empty lines; may be empty
  std::string examples = {};  // one command per line; a long one goes on after a backslash
  std::vector<KnownFile> files = {};
};

// Said where a command or flag is added. --help shows the explanation; shell completion and the manual pages
// know all of it. CLI11 has no place for it, so it is kept beside the command line.
void explain(CLI::App& command, Explanation explanation);
CLI::Option* offer_explained(CLI::Option* option, std::vector<Choice> choices);
CLI::Option* offer(CLI::Option* option, const std::vector<std::string>& choices);

// The names of an enumeration, after others.
template <HasNames Enum>
CLI::Option* offer_names(CLI::Option* option, std::vector<Choice> others = {}) {
  for (const NamedValue<Enum>& one : name_table(Enum{}).values)
    others.push_back({std::string(one.name), std::string(one.help)});
  return offer_explained(option, std::move(others));
}

const Explanation& explanation_of(const CLI::App& command);
const std::vector<Choice>& choices_of(const CLI::Option& option);

}  // namespace ration::cli
