#include "usage.h"

#include <fmt/format.h>

#include <set>

#include "ration/base/error.h"

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

class FlagChecker {
 public:
  FlagChecker(const CLI::App& command, std::string where) : command_(command), where_(std::move(where)) {}

  // Checks words[at] and returns how many words it takes.
  std::size_t check(const std::vector<std::string>& words, std::size_t at) {
    const std::string& word = words[at];
    if (!word.starts_with("-")) refuse("unexpected word '{}'; flags are {}", word, names_of_flags(command_));
    const bool joined = word.find('=') != std::string::npos;
    const std::string flag = word.substr(0, word.find('='));
    const CLI::Option* option = command_.get_option_no_throw(flag);
    if (option == nullptr) refuse("unknown flag '{}'; flags are {}", flag, names_of_flags(command_));
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
  template <class... Values>
  [[noreturn]] void refuse(fmt::format_string<Values...> message, Values&&... values) const {
    throw InputError(where_ + fmt::format(message, std::forward<Values>(values)...));
  }

  const CLI::App& command_;
  std::string where_;
  std::set<const CLI::Option*> seen_;
};

}  // namespace

void check_usage(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) {
    throw InputError(fmt::format("expected a command: {}; see 'ration --help'", names_of_commands(app)));
  }
  const CLI::App* const command = find_command(app, words.front());
  if (command == nullptr && !words.front().starts_with("-")) {
    throw InputError(fmt::format("unknown command '{}'; commands are {}; see 'ration --help'", words.front(),
                                 names_of_commands(app)));
  }
  FlagChecker checker(command ? *command : app, command ? words.front() + ": " : "");
  for (std::size_t at = command ? 1 : 0; at < words.size();) at += checker.check(words, at);
}

}  // namespace ration::cli
