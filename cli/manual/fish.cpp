#include <fmt/format.h>

#include "manual/completion.h"
#include "manual/quote.h"

namespace ration::cli {
namespace {

constexpr const char* kBegin = R"(# fish completion for ration, made by 'ration completion fish'

# The words after 'ration', up to the first flag.
function __ration_words
    set -l words (commandline -opc)
    for word in $words[2..-1]
        string match -q -- '-*' $word; and break
        echo $word
    end
end

# Has this command been typed, and nothing after it?
function __ration_at
    set -l words (__ration_words)
    test "$words" = "$argv"
end

# Has this command been typed?
function __ration_in
    set -l words (__ration_words)
    test (count $words) -ge (count $argv); and test "$words[1..$(count $argv)]" = "$argv"
end

complete -c ration -f
)";

std::string in_fish_quotes(std::string_view text) {
  return "'" + with_backslashes(text, "'\\") + "'";
}

// Fish reads the list once more, so a description is quoted within it.
std::string list_of(const std::vector<Choice>& choices) {
  std::string out;
  for (const Choice& choice : choices) {
    out += (out.empty() ? "" : " ") + choice.name;
    if (!choice.help.empty()) out += "\\t" + in_fish_quotes(choice.help);
  }
  return in_fish_quotes(out);
}

// How a value is completed.
std::string values_of(const Argument& argument) {
  std::string out;
  if (!argument.choices.empty()) out += " -a " + list_of(argument.choices);
  if (argument.takes == Takes::file) return out + " -F";
  if (argument.takes == Takes::folder) return out + " -a '(__fish_complete_directories)'";
  return out;
}

std::string line_of_flag(const std::string& condition, const Argument& flag) {
  std::string out = fmt::format("complete -c ration -n '{}'", condition);
  if (!flag.short_name.empty()) out += " -s " + flag.short_name.substr(1);
  out += " -l " + flag.name.substr(2);
  if (flag.takes != Takes::nothing) out += (flag.takes == Takes::file ? " -r" : " -x") + values_of(flag);
  return out + " -d " + in_fish_quotes(flag.help) + "\n";
}

std::string lines_of(const Command& command) {
  const std::string path = joined_path(command, " ");
  const std::string at = path.empty() ? "__ration_at" : "__ration_at " + path;
  const std::string condition = command.commands.empty() && !path.empty() ? "__ration_in " + path : at;
  std::string out = "\n";
  for (const Command& below : command.commands) {
    out +=
        fmt::format("complete -c ration -n '{}' -a {} -d {}\n", at, below.name(), in_fish_quotes(below.help));
  }
  for (const Argument& word : command.words) {
    out += fmt::format("complete -c ration -n '{}'{}\n", condition, values_of(word));
  }
  for (const Argument& flag : command.flags) out += line_of_flag(condition, flag);
  return out;
}

}  // namespace

std::string fish_completion(const Command& ration) {
  std::string out = kBegin;
  for_each_command(ration, [&](const Command& command) { out += lines_of(command); });
  return out;
}

}  // namespace ration::cli
