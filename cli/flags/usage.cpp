#include "flags/usage.h"

#include <fmt/format.h>

#include <set>

#include "ration/base/error.h"
#include "ration/base/names.h"

namespace ration::cli {
namespace {

std::string names_of_commands(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return names;
}

std::string names_of_flags(const CLI::App& command) {
  std::string names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty()) continue;  // a word by its place, not a flag
    names += (names.empty() ? "--" : ", --") + option->get_lnames().front();
  }
  return names;
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

bool has_commands(const CLI::App& app) {
  return !app.get_subcommands({}).empty();
}

const CLI::App& command_named(const CLI::App& app, const std::string& where, const std::string& name) {
  if (const CLI::App* const found = find_command(app, name)) return *found;
  const std::string prefix = where.empty() ? "" : where + ": ";
  const std::string help = fmt::format("see 'ration {}{}--help'", where, where.empty() ? "" : " ");
  if (name.empty()) {
    throw InputError(fmt::format("{}expected a command: {}; {}", prefix, names_of_commands(app), help));
  }
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  throw InputError(fmt::format("{}unknown command '{}'; commands are {}; {}{}", prefix, name,
                               names_of_commands(app), help, did_you_mean(name, names)));
}

class FlagChecker {
 public:
  FlagChecker(const CLI::App& command, std::string where) : command_(command), where_(std::move(where)) {
    for (const CLI::Option* option : command.get_options())
      words_by_place_ += option->get_positional() ? 1 : 0;
  }

  // Checks words[at] and returns how many words it takes.
  std::size_t check(const std::vector<std::string>& words, std::size_t at) {
    const std::string& word = words[at];
    if (!word.starts_with("-") && words_by_place_ > 0) {
      --words_by_place_;
      return 1;
    }
    if (!word.starts_with("-")) refuse("unexpected word '{}'; flags are {}", word, names_of_flags(command_));
    const bool joined = word.find('=') != std::string::npos;
    const std::string flag = word.substr(0, word.find('='));
    const CLI::Option* option = command_.get_option_no_throw(flag);
    if (option == nullptr) {
      refuse("unknown flag '{}'; flags are {}{}", flag, names_of_flags(command_), similar_flag(flag));
    }
    if (!seen_.insert(option).second) refuse("{} is given twice; give it once", flag);
    if (option->get_items_expected_max() == 0) {
      if (joined) refuse("{} takes no value", flag);
      return 1;
    }
    if (joined) return 1;
    if (at + 1 == words.size() || words[at + 1].starts_with("--")) {
      refuse("{} needs a value: {} {}", flag, flag, option->get_type_name());
    }
    return 2;
  }

 private:
  std::string similar_flag(std::string_view flag) const {
    std::vector<std::string> flags;
    for (const CLI::Option* option : command_.get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
    return did_you_mean(flag, std::vector<std::string_view>(flags.begin(), flags.end()));
  }

  template <class... Values>
  [[noreturn]] void refuse(fmt::format_string<Values...> message, Values&&... values) const {
    throw InputError(where_ + fmt::format(message, std::forward<Values>(values)...));
  }

  const CLI::App& command_;
  std::string where_;
  std::set<const CLI::Option*> seen_;
  int words_by_place_ = 0;  // that may still come
};

}  // namespace

void check_usage(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string where;
  std::size_t at = 0;
  while (has_commands(*command) && (at == words.size() || !words[at].starts_with("-"))) {
    command = &command_named(*command, where, at < words.size() ? words[at] : "");
    where += (where.empty() ? "" : " ") + words[at++];
  }
  FlagChecker checker(*command, where.empty() ? "" : where + ": ");
  while (at < words.size()) at += checker.check(words, at);
}

}  // namespace ration::cli
