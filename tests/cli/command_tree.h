#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "commands/commands.h"
#include "manual/describe.h"

namespace ration::testing {

// The command line of the program, as completion scripts and manual pages are made from it.
inline const cli::Command& command_tree() {
  static const auto app = [] {
    auto made = std::make_unique<CLI::App>();
    cli::add_commands(*made);
    return made;
  }();
  static const cli::Command tree = cli::describe(*app);
  return tree;
}

}  // namespace ration::testing
