#include "manual/describe.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace ration::cli {
namespace {

// The name of the value says what it is, in --help as here.
Takes taken_by(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return Takes::nothing;
  const std::string& value = option.get_type_name();
  const auto names = [&](const char* word) { return value.find(word) != std::string::npos; };
  if (names("FILE") || names("RUN")) return Takes::file;
  return names("DIR") ? Takes::folder : Takes::text;
}

Argument describe_argument(const CLI::Option& option) {
  Argument argument;
  argument.help = option.get_description();
  argument.group = option.get_group();
  argument.takes = taken_by(option);
  argument.choices = choices_of(option);
  if (argument.takes != Takes::nothing) argument.value = option.get_type_name();
  if (option.get_positional()) {
    argument.name = option.get_name(true);
    return argument;
  }
  argument.name = "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) argument.short_name = "-" + option.get_snames().front();
  return argument;
}

Command describe_below(const CLI::App& app, std::vector<std::string> path) {
  Command command;
  path.push_back(app.get_name());
  command.path = path;
  command.help = app.get_description();
  command.explanation = explanation_of(app);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? command.words : command.flags).push_back(describe_argument(*option));
  }
  for (const CLI::App* below : app.get_subcommands({})) {
    if (!below->get_group().empty()) command.commands.push_back(describe_below(*below, path));
  }
  return command;
}

}  // namespace

Command describe(const CLI::App& app) {
  return describe_below(app, {});
}

std::string joined_path(const Command& command, const std::string& separator) {
  return fmt::format("{}", fmt::join(command.path.begin() + 1, command.path.end(), separator));
}

}  // namespace ration::cli
