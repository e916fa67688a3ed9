#include <fmt/format.h>

#include "manual/completion.h"
#include "manual/quote.h"

namespace ration::cli {
namespace {

// A ':' ends a part of the specification.
std::string name_in_spec(const Choice& choice) {
  return with_backslashes(choice.name, ":\\ ()");
}

// In a list of values, a second ':' begins a description.
std::string described(const Choice& choice) {
  const std::string name = with_backslashes(name_in_spec(choice), ":\\");
  if (choice.help.empty()) return name;
  return name + "\\:" + with_backslashes(choice.help, ":\\ ()[]\"'`$&;|<>*?~#");
}

std::string joined(const std::vector<Choice>& choices, std::string (*text_of)(const Choice&)) {
  std::string out;
  for (const Choice& choice : choices) out += (out.empty() ? "" : " ") + text_of(choice);
  return out;
}

// Where _arguments takes the values of a flag from.
std::string action_of(const Argument& argument) {
  const std::vector<Choice>& choices = argument.choices;
  if (argument.takes == Takes::file) {
    return choices.empty() ? "_files"
                           : fmt::format("{{compadd -- {}; _files}}", joined(choices, name_in_spec));
  }
  if (choices.empty()) return argument.takes == Takes::folder ? "_files -/" : " ";
  return fmt::format("(({}))", joined(choices, described));
}

std::string message_and_action(const Argument& argument) {
  return fmt::format(":{}:{}", with_backslashes(argument.value, ":\\"), action_of(argument));
}

std::string spec_of_flag(const Argument& flag) {
  const std::string value = flag.takes == Takes::nothing ? "" : message_and_action(flag);
  const std::string help = fmt::format("[{}]", with_backslashes(flag.help, "[]:\\"));
  const std::string equals = flag.takes == Takes::nothing ? "" : "=";
  if (flag.short_name.empty()) return in_quotes(flag.name + equals + help + value);
  return fmt::format("'({0} {1})'{{{0},{1}}}{2}", flag.short_name, flag.name, in_quotes(help + value));
}

std::string function_of(const Command& command) {
  const std::string path = joined_path(command, "_");
  return path.empty() ? "_ration" : "_ration_" + path;
}

std::string specs_of(const Command& command) {
  std::string out;
  for (const Argument& flag : command.flags) out += " \\\n    " + spec_of_flag(flag);
  for (const Argument& word : command.words) out += " \\\n    " + in_quotes(message_and_action(word));
  return out;
}

std::string leaf(const Command& command) {
  return fmt::format("{}() {{\n  _arguments{}\n}}\n", function_of(command), specs_of(command));
}

std::string with_commands(const Command& command) {
  std::string names, calls;
  for (const Command& below : command.commands) {
    names += fmt::format("        {}\n", in_quotes(with_backslashes(below.name(), ":") + ":" + below.help));
    calls += fmt::format("        {}) {} && ret=0 ;;\n", below.name(), function_of(below));
  }
  return fmt::format(R"({}() {{
  local curcontext=$curcontext state line ret=1
  typeset -A opt_args
  _arguments -C{} \
    '1:command:->command' \
    '*:: :->arguments' && ret=0
  case $state in
    command)
      local -a commands
      commands=(
{}      )
      _describe -t commands command commands && ret=0
      ;;
    arguments)
      case $line[1] in
{}      esac
      ;;
  esac
  return ret
}}
)",
                     function_of(command), specs_of(command), names, calls);
}

}  // namespace

std::string zsh_completion(const Command& ration) {
  std::string out = "#compdef ration\n# zsh completion for ration, made by 'ration completion zsh'\n";
  for_each_command(ration, [&](const Command& command) {
    out += "\n" + (command.commands.empty() ? leaf(command) : with_commands(command));
  });
  // Found in $fpath, the file is the function's body; read by 'source', it declares the function.
  return out + R"(
if [[ $funcstack[1] == _ration ]]; then
  _ration "$@"
else
  compdef _ration ration
fi
)";
}

}  // namespace ration::cli
