#include "flags/usage.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>

#include "ration/base/error.h"
#include "ration/base/names.h"

namespace ration::cli {
namespace {

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_flags(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// "; did you mean '--method'?", for the only name that begins so, or one that is close; nothing if there is
// none.
std::string suggestion(const std::string& typed, const std::vector<std::string>& names) {
  std::vector<std::string> longer;
  for (const std::string& name : names) {
    if (name.starts_with(typed)) longer.push_back(name);
  }
  if (longer.size() == 1) return fmt::format("; did you mean '{}'?", longer.front());
  return did_you_mean(typed, std::vector<std::string_view>(names.begin(), names.end()));
}

std::string see_help(const std::string& where) {
  return fmt::format("see 'ration {}{}--help'", where, where.empty() ? "" : " ");
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
  const std::vector<std::string> names = names_of_commands(app);
  const std::string all = fmt::format("{}; {}", fmt::join(names, ", "), see_help(where));
  if (name.empty()) throw InputError(fmt::format("{}expected a command: {}", prefix, all));
  std::string hint = suggestion(name, names);
  if (hint.empty()) hint = "; commands are " + all;
  throw InputError(fmt::format("{}unknown command '{}'{}", prefix, name, hint));
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
    if (!word.starts_with("-")) refuse("unexpected word '{}'; {}", word, advice_on_word(word));
    const bool joined = word.find('=') != std::string::npos;
    const std::string flag = word.substr(0, word.find('='));
    const CLI::Option* option = command_.get_option_no_throw(flag);
    if (option == nullptr) {
      std::string hint = suggestion(flag, names_of_flags(command_));
      if (hint.empty()) hint = "; " + see_help(where_);
      refuse("unknown flag '{}'{}", flag, hint);
    }
    if (!seen_.insert(option).second) refuse("{} is given twice; give it once", flag);
    if (option->get_items_expected_max() == 0) {
      if (joined) refuse("{} takes no value", flag);
      return 1;
    }
    if (joined) return 1;
    if (at + 1 == words.size() || words[at + 1].starts_with("--")) {
      if (option->get_items_expected_min() == 0) return 1;
      refuse("{} needs a value: {} {}", flag, flag, option->get_type_name());
    }
    return 2;
  }

 private:
  // A schema is the only file of that kind that is given beside the rows.
  std::string advice_on_word(const std::string& word) const {
    const char* const flag = word.ends_with(".toml") ? "--schema" : "--data";
    const CLI::Option* const option = command_.get_option_no_throw(flag);
    return option != nullptr && !seen_.contains(option) ? fmt::format("did you mean {} {}?", flag, word)
                                                        : see_help(where_);
  }

  template <class... Values>
  [[noreturn]] void refuse(fmt::format_string<Values...> message, Values&&... values) const {
    throw InputError((where_.empty() ? "" : where_ + ": ") +
                     fmt::format(message, std::forward<Values>(values)...));
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
  FlagChecker checker(*command, where);
  while (at < words.size()) at += checker.check(words, at);
}

}  // namespace ration::cli
