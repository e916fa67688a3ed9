#include <fmt/format.h>

#include "manual/completion.h"

namespace ration::cli {
namespace {

// Bash cuts words at ':' and '=', but a value such as cnn:papernot and --flag=value are one word to us. So
// the line is cut at blanks, and what stands before the last ':' is taken off the answers again.
constexpr const char* kBegin = R"(# bash completion for ration, made by 'ration completion bash'
_ration() {
  local line=${COMP_LINE:0:COMP_POINT} before typed flag command flags='' values='' kind='' one
  local -a words
  read -ra words <<< "$line"
  typed=${line##*[[:space:]]}
  before=${line%"$typed"}
  [[ -z $typed ]] && words+=('')
  flag=${words[${#words[@]} - 2]}
  if [[ $typed == --*=* ]]; then
    flag=${typed%%=*}
    typed=${typed#*=}
  fi
  command=''
  (( ${#words[@]} > 2 )) && command=${words[1]}
)";

constexpr const char* kEnd = R"(  COMPREPLY=()
  if [[ $typed == -* && -z $kind ]]; then
    values=$flags
  fi
  for one in $values; do
    [[ $one == "$typed"* ]] || continue
    # A flag is given once.
    [[ $one == --* && $before == *" $one"[\ =]* ]] && continue
    [[ $COMP_WORDBREAKS == *:* ]] && one=${one#"${typed%"${typed##*:}"}"}
    COMPREPLY+=("$one")
  done
  if [[ ${#COMPREPLY[@]} == 0 && $typed != -* ]]; then
    case $kind in
      file) compopt -o default ;;
      folder) compopt -o dirnames ;;
    esac
  fi
}
complete -F _ration ration
)";

std::string names_of(const std::vector<Choice>& choices) {
  std::string names;
  for (const Choice& choice : choices) names += (names.empty() ? "" : " ") + choice.name;
  return names;
}

const char* kind_of(const Argument& argument) {
  if (argument.takes == Takes::file) return "file";
  return argument.takes == Takes::folder ? "folder" : "value";
}

std::string flag_names(const Command& command) {
  std::string names;
  for (const Argument& flag : command.flags) names += (names.empty() ? "" : " ") + flag.name;
  return names;
}

// What may come where no flag waits for its value.
std::string words_of(const Command& command) {
  std::string out;
  for (const Command& below : command.commands) out += (out.empty() ? "" : " ") + below.name();
  if (!out.empty()) return fmt::format(" values='{}'", out);
  if (command.words.empty()) return "";
  const Argument& word = command.words.front();
  if (!word.choices.empty()) out += fmt::format(" values='{}'", names_of(word.choices));
  return out;
}

std::string case_of(const Command& command) {
  std::string out = fmt::format("    '{}')\n      flags='{}'{}\n", joined_path(command, " "),
                                flag_names(command), words_of(command));
  std::string cases;
  for (const Argument& flag : command.flags) {
    if (flag.takes == Takes::nothing) continue;
    cases +=
        fmt::format("        {}) kind={} values='{}' ;;\n", flag.name, kind_of(flag), names_of(flag.choices));
  }
  if (!command.words.empty()) {
    const Argument& word = command.words.front();
    if (word.takes != Takes::text)
      cases += fmt::format("        *) [[ $typed == -* ]] || kind={} ;;\n", kind_of(word));
  }
  if (!cases.empty()) out += "      case $flag in\n" + cases + "      esac\n";
  return out + "      ;;\n";
}

std::string names_with_commands(const Command& ration) {
  std::string names;
  for (const Command& one : ration.commands) {
    if (!one.commands.empty()) names += (names.empty() ? "" : " | ") + one.name();
  }
  return names;
}

}  // namespace

std::string bash_completion(const Command& ration) {
  std::string out = kBegin;
  const std::string with_commands = names_with_commands(ration);
  if (!with_commands.empty()) {
    out += fmt::format(
        "  case $command in\n    {}) (( ${{#words[@]}} > 3 )) && command+=\" ${{words[2]}}\" ;;\n  esac\n",
        with_commands);
  }
  out += "  case $command in\n";
  for_each_command(ration, [&](const Command& command) { out += case_of(command); });
  return out + "  esac\n" + kEnd;
}

}  // namespace ration::cli
