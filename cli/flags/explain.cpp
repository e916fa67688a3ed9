#include "flags/explain.h"

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>

namespace ration::cli {
namespace {

std::map<const CLI::App*, Explanation>& explanations() {
  static std::map<const CLI::App*, Explanation> all;
  return all;
}

std::map<const CLI::Option*, std::vector<Choice>>& offered() {
  static std::map<const CLI::Option*, std::vector<Choice>> all;
  return all;
}

std::string footer_of(const Explanation& explanation) {
  std::string text;
  if (!explanation.about.empty()) text += "\n" + explanation.about + "\n";
  if (explanation.examples.empty()) return text;
  text += "\nExamples:\n";
  std::istringstream lines(explanation.examples);
  for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
  return text;
}

}  // namespace

void explain(CLI::App& command, Explanation explanation) {
  command.footer(footer_of(explanation));
  explanations()[&command] = std::move(explanation);
}

CLI::Option* offer_explained(CLI::Option* option, std::vector<Choice> choices) {
  offered()[option] = std::move(choices);
  return option;
}

CLI::Option* offer(CLI::Option* option, const std::vector<std::string>& choices) {
  std::vector<Choice> named;
  for (const std::string& name : choices) named.push_back({name, ""});
  return offer_explained(option, std::move(named));
}

const Explanation& explanation_of(const CLI::App& command) {
  static const Explanation none;
  const auto found = explanations().find(&command);
  return found == explanations().end() ? none : found->second;
}

const std::vector<Choice>& choices_of(const CLI::Option& option) {
  static const std::vector<Choice> none;
  const auto found = offered().find(&option);
  return found == offered().end() ? none : found->second;
}

}  // namespace ration::cli
