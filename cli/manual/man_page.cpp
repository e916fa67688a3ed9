#include "manual/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "program.h"

namespace ration::cli {
namespace {

// As roff reads it: no escape, no macro, and a hyphen that can be copied into a shell.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

// An argument of a macro.
std::string as_argument(std::string_view text) {
  std::string out = "\"";
  for (const char c : escaped(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return out + "\"";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string section(std::string_view name) {
  return fmt::format(".SH {}\n",
                     name.find(' ') == std::string_view::npos ? std::string(name) : as_argument(name));
}

std::string page_name(const Command& command) {
  const std::string below = joined_path(command, "-");
  return below.empty() ? command.path.front() : command.path.front() + "-" + below;
}

std::string full_name(const Command& command) {
  return fmt::format("{}", fmt::join(command.path, " "));
}

// --- what can be typed

// [FILE] [--flag ...]
std::string synopsis(const Command& command) {
  std::string out = fmt::format(".B {}\n", as_argument(full_name(command)));
  for (const Argument& word : command.words) out += fmt::format(".RI [ {} ]\n", as_argument(word.value));
  if (!command.commands.empty()) out += ".I command\n";
  return out + ".RI [ options ]\n";
}

std::string all_synopses(const Command& command) {
  if (command.commands.empty()) return synopsis(command);
  std::string out;
  for (const Command& below : command.commands) out += (out.empty() ? "" : ".br\n") + synopsis(below);
  return out;
}

std::string entry(const std::string& head, const std::string& body) {
  return fmt::format(".TP\n{}\n{}\n", head, escaped(body));
}

std::string list_of(const std::vector<Choice>& choices) {
  if (choices.empty() || choices.front().help.empty()) return "";
  std::string out = ".RS\n";
  for (const Choice& choice : choices) out += entry(".B " + as_argument(choice.name), choice.help);
  return out + ".RE\n";
}

std::string entry_of(const Argument& argument) {
  std::string head;
  if (!argument.name.starts_with("-")) {
    head = ".I " + as_argument(argument.value);
  } else {
    const std::string name =
        argument.short_name.empty() ? argument.name : argument.short_name + ", " + argument.name;
    head = argument.value.empty()
               ? ".B " + as_argument(name)
               : fmt::format(".BI {} {}", as_argument(name + " "), as_argument(argument.value));
  }
  return entry(head, argument.help) + list_of(argument.choices);
}

std::string entries_of(const Command& command) {
  std::string out, group = "Options";  // CLI11's name for those that were put into none
  for (const Argument& word : command.words) out += entry_of(word);
  std::vector<std::string> groups;
  for (const Argument& flag : command.flags) {
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) groups.push_back(flag.group);
  }
  for (const std::string& one : groups) {
    if (one != group) out += ".SS " + as_argument(one) + "\n";
    for (const Argument& flag : command.flags) {
      if (flag.group == one) out += entry_of(flag);
    }
  }
  return out;
}

std::string options(const Command& command) {
  if (command.commands.empty()) return section("OPTIONS") + entries_of(command);
  std::string out;
  for (const Command& below : command.commands) {
    out += section(upper(joined_path(below, " "))) + escaped(below.help) + ".\n" + entries_of(below);
  }
  return out;
}

std::string commands_of(const Command& ration) {
  std::string out = section("COMMANDS");
  for (const Command& command : ration.commands) {
    out += entry(fmt::format(".BR {} (1)", as_argument(page_name(command))), command.help);
  }
  return out + section("OPTIONS") + entries_of(ration);
}

// --- what is said about it

std::string description(const Command& command) {
  std::string out = section("DESCRIPTION") + escaped(command.help);
  if (!command.help.ends_with('.')) out += '.';
  out += '\n';
  std::istringstream lines(command.explanation.about);
  for (std::string line; std::getline(lines, line);) out += line.empty() ? ".PP\n" : escaped(line) + "\n";
  return out;
}

std::string examples(const Command& command) {
  std::string text = command.explanation.examples;
  for (const Command& below : command.commands) {
    // Sub-commands may share their examples.
    if (command.path.size() > 1 && text.find(below.explanation.examples) == std::string::npos)
      text += below.explanation.examples;
  }
  if (text.empty()) return "";
  std::string out = section("EXAMPLES") + ".nf\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += escaped(line) + "\n";
  return out + ".fi\n";
}

std::string files(const Command& command) {
  if (command.explanation.files.empty()) return "";
  std::string out = section("FILES");
  for (const KnownFile& file : command.explanation.files)
    out += entry(".I " + as_argument(file.name), file.help);
  return out;
}

std::string exit_status() {
  std::string out = section("EXIT STATUS");
  for (const ExitStatusMeaning& one : kExitStatuses) {
    out += entry(fmt::format(".B {}", static_cast<int>(one.status)), one.meaning);
  }
  return out;
}

std::string environment() {
  std::string out = section("ENVIRONMENT");
  for (const EnvironmentVariable& one : kEnvironment)
    out += entry(fmt::format(".B {}", one.name), one.meaning);
  return out;
}

std::string see_also(const Command& ration, const Command& command) {
  std::string out;
  const auto refer = [&](const Command& other) {
    if (&other == &command) return;
    out += fmt::format("{}.BR {} (1)", out.empty() ? "" : ",\n", as_argument(page_name(other)));
  };
  refer(ration);
  for (const Command& other : ration.commands) refer(other);
  return section("SEE ALSO") + out + "\n";
}

std::string page(const Command& ration, const Command& command, const std::string& version) {
  const std::string name = page_name(command);
  std::string out = fmt::format(".\\\" Made by 'ration manual'.\n.TH {} 1 \"\" {} {}\n.nh\n.ad l\n",
                                as_argument(upper(name)), as_argument(version), as_argument("User Commands"));
  out += fmt::format("{}{} \\- {}\n", section("NAME"), escaped(name), escaped(command.help));
  const bool is_program = &command == &ration;
  out += section("SYNOPSIS") + (is_program ? synopsis(command) : all_synopses(command));
  out += description(command) + (is_program ? commands_of(command) : options(command));
  return out + exit_status() + environment() + files(command) + examples(command) + see_also(ration, command);
}

}  // namespace

std::vector<ManPage> man_pages(const Command& ration, const std::string& version) {
  std::vector<ManPage> pages;
  const auto add = [&](const Command& command) {
    pages.push_back({page_name(command) + ".1", page(ration, command, version)});
  };
  add(ration);
  for (const Command& command : ration.commands) add(command);
  return pages;
}

}  // namespace ration::cli
