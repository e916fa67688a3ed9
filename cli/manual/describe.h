#pragma once

#include <string>
#include <vector>

#include "flags/cli11.h"
#include "flags/explain.h"

namespace ration::cli {

enum class Takes { nothing, text, file, folder };

// A flag, or a word that is known by its place.
struct Argument {
  std::string name;        // "--method"; of a word, what --help calls it
  std::string short_name;  // "-h"; empty if there is none
  std::string value;       // what stands for the value: "NAME"
  std::string help;
  std::string group;
  Takes takes = Takes::nothing;
  std::vector<Choice> choices = {};
};

// A command with all that can be typed after it.
struct Command {
  std::vector<std::string> path;  // {"ration", "ledger", "init"}
  std::string help;
  Explanation explanation;
  std::vector<Argument> flags, words;
  std::vector<Command> commands;

  const std::string& name() const { return path.back(); }
};

// The tree that CLI11 holds, in our words. What is hidden from --help is left out.
Command describe(const CLI::App& app);

// The path after "ration", joined.
std::string joined_path(const Command& command, const std::string& separator);

// Calls `visit` for the command and everything below it.
template <class Visit>
void for_each_command(const Command& command, const Visit& visit) {
  visit(command);
  for (const Command& one : command.commands) for_each_command(one, visit);
}

}  // namespace ration::cli
