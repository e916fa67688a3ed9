#include "train/plan_docs.h"

#include <fmt/format.h>

#include "ration/train/plan.h"

namespace ration {
namespace {

// What Markdown would take for the end of a cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string line_of(const PlanKey& key) {
  const std::string usual = key.usual().empty() ? "" : fmt::format("`{}`", key.usual());
  const std::string rule = key.rule.empty() ? "" : fmt::format(" ({})", key.rule);
  return fmt::format("| `{}` | {} | {}{} |\n", key.name, usual, cell(key.help), cell(rule));
}

std::string choices_of(const PlanKey& key) {
  std::string text = fmt::format("\nValues of `{}`:\n\n| value | meaning |\n|---|---|\n", key.name);
  for (const NameAndHelp& choice : key.choices)
    text += fmt::format("| `{}` | {} |\n", choice.name, cell(choice.help));
  return text;
}

}  // namespace

std::string plan_keys_as_markdown() {
  std::string text, choices;
  std::string_view group;
  for (const PlanKey& key : plan_keys()) {
    if (key.group != group) {
      text += std::exchange(choices, "") + (text.empty() ? "" : "\n") +
              fmt::format("### {}\n| key | default | meaning |\n|---|---|---|\n", key.group);
      group = key.group;
    }
    text += line_of(key);
    if (!key.choices.empty()) choices += choices_of(key);
  }
  return text + choices;
}

}  // namespace ration
