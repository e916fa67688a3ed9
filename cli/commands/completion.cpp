#include "manual/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "commands/commands.h"
#include "ration/base/error.h"
#include "text/output.h"

namespace ration::cli {
namespace {

struct Shell {
  const char* name;
  std::string (*script)(const Command& ration);
};

constexpr std::array kShells = {Shell{"bash", bash_completion}, Shell{"zsh", zsh_completion},
                                Shell{"fish", fish_completion}};

std::vector<std::string> names_of_shells() {
  std::vector<std::string> names;
  for (const Shell& shell : kShells) names.emplace_back(shell.name);
  return names;
}

void print_script(const CLI::App& app, const std::optional<std::string>& name) {
  if (!name) throw InputError("completion: which shell? ration completion bash, zsh or fish");
  const auto* const shell =
      std::find_if(kShells.begin(), kShells.end(), [&](const Shell& one) { return one.name == *name; });
  if (shell == kShells.end()) {
    throw InputError(
        fmt::format("completion: expected one of {}, got '{}'", fmt::join(names_of_shells(), ", "), *name));
  }
  print(shell->script(describe(app)));
}

// Where each shell looks without being told.
constexpr const char* kAbout =
    R"(An installed ration comes with these scripts. To try one in the current shell:
  bash   source <(ration completion bash)
  zsh    source <(ration completion zsh)     (after compinit)
  fish   ration completion fish | source

To install one for yourself, write it where your shell looks for it, as below. For zsh, the folder must be
in $fpath before compinit runs: put 'fpath=(~/.zfunc $fpath)' above it in ~/.zshrc.)";

constexpr const char* kExamples =
    R"(ration completion bash > ~/.local/share/bash-completion/completions/ration
ration completion zsh > ~/.zfunc/_ration
ration completion fish > ~/.config/fish/completions/ration.fish
)";

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::optional<std::string>>();
  CLI::App& command = *app.add_subcommand("completion", "Print a completion script for your shell");
  offer(command.add_option("shell", *shell, "bash, zsh or fish")->type_name("SHELL"), names_of_shells());
  explain(command, {.about = kAbout, .examples = kExamples});
  command.callback([&app, shell] { print_script(app, *shell); });
}

}  // namespace ration::cli
