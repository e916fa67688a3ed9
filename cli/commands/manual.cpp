#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/atomic_file.h"
#include "base/version.h"
#include "commands/commands.h"
#include "manual/man_page.h"
#include "ration/base/error.h"
#include "text/output.h"

namespace ration::cli {
namespace {

void write_pages(const CLI::App& app, const std::optional<std::string>& folder) {
  if (!folder) throw InputError("--out is needed: the folder for the pages");
  std::error_code error;
  std::filesystem::create_directories(*folder, error);
  if (error) throw InputError(fmt::format("{}: cannot make this folder: {}", *folder, error.message()));
  const std::vector<ManPage> pages = man_pages(describe(app), fmt::format("ration {}", version()));
  for (const ManPage& page : pages) {
    write_file_atomically((std::filesystem::path(*folder) / page.file).string(), page.text);
  }
  print(fmt::format("{}: {} pages, for example {}\n", *folder, pages.size(), pages.front().file));
}

}  // namespace

void add_manual(CLI::App& app) {
  auto out = std::make_shared<std::optional<std::string>>();
  CLI::App& command = *app.add_subcommand("manual", "Write the manual pages (man) of all commands");
  command.add_option("--out", *out, "The folder for the pages")->type_name("DIR");
  explain(command, {.about = "An installed ration comes with its manual: man ration, man ration-train.",
                    .examples = "ration manual --out man1\nman -l man1/ration-train.1\n"});
  command.callback([&app, out] { write_pages(app, *out); });
}

}  // namespace ration::cli
