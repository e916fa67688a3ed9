#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands/commands.h"
#include "data/named_data.h"
#include "data/schema_draft.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "ration/base/error.h"
#include "text/output.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct SchemaFlags {
  std::optional<std::string> file, target, names;
  bool json = false;
};

std::string warning(const std::string& file) {
  return fmt::format(
      "{} was read WITHOUT PRIVACY: the draft shows its smallest and largest values and all its categories. "
      "Unless that file is public, replace them with public knowledge before you train or share the draft",
      file);
}

// Known from the format: no row is read.
void print_own_schema(const SchemaFlags& flags, const data::Schema& schema) {
  if (!flags.json) return print(to_toml(schema));
  const ordered_json json{
      {"file", *flags.file}, {"target", schema.label}, {"private", true}, {"schema", to_toml(schema)}};
  print(json_text(json));
}

void run_schema(const SchemaFlags& flags) {
  if (!flags.file) throw InputError("schema: which file? ration schema FILE --target COLUMN");
  if (const auto own = data::schema_of_data(*flags.file)) return print_own_schema(flags, *own);
  if (!flags.target) throw InputError("--target is needed: the column to predict");
  const std::vector<std::string> names =
      flags.names ? data::read_names(*flags.names) : std::vector<std::string>();
  const std::string draft = data::draft_schema(*flags.file, *flags.target, names);
  if (flags.json) {
    const ordered_json json{{"file", *flags.file},
                            {"target", *flags.target},
                            {"private", false},
                            {"warning", warning(*flags.file)},
                            {"schema", draft}};
    print(json_text(json));
    return;
  }
  fmt::print(stderr, "ration: warning: {}\n", warning(*flags.file));
  print(draft);
}

}  // namespace

void add_schema(CLI::App& app) {
  auto flags = std::make_shared<SchemaFlags>();
  CLI::App& command = *app.add_subcommand(
      "schema", "Draft a schema (TOML) from a PUBLIC sample, which is read without privacy");
  command
      .add_option(
          "file", flags->file,
          "Delimited file (CSV, TSV, ...), possibly gzipped. The schemas of mnist:DIR, fashion-mnist, "
          "cifar10:DIR and text:FILE are known: no row is read")
      ->type_name("FILE");
  command.add_option("--target", flags->target, "Column to predict")->type_name("COLUMN");
  command
      .add_option("--names", flags->names,
                  "File with one column name per line, for data without a header line")
      ->type_name("FILE");
  add_json_flag(command, flags->json);
  explain(
      command,
      {.examples =
           "ration schema sample.csv --target income > schema.toml\n"
           "ration schema adult.data.gz --target income --names examples/adult/names.txt > draft.toml\n"});
  command.callback([flags] { run_schema(*flags); });
}

}  // namespace ration::cli
