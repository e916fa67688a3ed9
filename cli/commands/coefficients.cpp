#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"
#include "base/read_number.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "ration/base/error.h"
#include "ration/train/intervals.h"
#include "text/output.h"
#include "text/short_names.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct CoefficientFlags {
  std::optional<std::string> run, level;
  bool json = false;
};

std::string number(double value) {
  return fmt::format("{:.3f}", value);
}

std::string to_text(const std::vector<Coefficient>& list, double level) {
  const bool has_classes = !list.empty() && !list.front().class_name.empty();
  const bool has_intervals = !list.empty() && list.front().low.has_value();
  std::vector<TextTable::Column> columns{{"column"}, {"category"}};
  if (has_classes) columns.push_back({"class"});
  columns.push_back({"coefficient", TextTable::Align::right});
  if (has_intervals) {
    columns.push_back({"low", TextTable::Align::right});
    columns.push_back({"high", TextTable::Align::right});
  }
  TextTable table(columns);
  for (const Coefficient& one : list) {
    std::vector<std::string> cells{one.column, with_short_number(one.category)};
    if (has_classes) cells.push_back(one.class_name);
    cells.push_back(number(one.value));
    if (has_intervals) {
      cells.push_back(number(*one.low));
      cells.push_back(number(*one.high));
    }
    table.add_row(std::move(cells));
  }
  const std::string note =
      has_intervals
          ? fmt::format("{} % intervals: what noise may have done, not what other rows would have given.\n",
                        show(100 * level))
          : "No intervals: the method does not know what noise did to its weights; auto does.\n";
  return table.render() + "\n" + note;
}

ordered_json to_json(const std::vector<Coefficient>& list) {
  ordered_json out = ordered_json::array();
  for (const Coefficient& one : list) {
    ordered_json entry{{"column", one.column}, {"category", one.category}};
    if (!one.class_name.empty()) entry["class"] = one.class_name;
    entry["coefficient"] = one.value;
    entry["low"] = nullptr;
    entry["high"] = nullptr;
    if (one.low) {
      entry["low"] = *one.low;
      entry["high"] = *one.high;
    }
    out.push_back(std::move(entry));
  }
  return out;
}

void run_coefficients(const CoefficientFlags& flags) {
  if (!flags.run) throw InputError("coefficients: of which model? ration coefficients RUN");
  const double level =
      flags.level ? read_number("--level", "level", *flags.level, greater_than(0).less_than(1)) : 0.95;
  const std::vector<Coefficient> list = coefficients(read_model(*flags.run), level);
  if (!flags.json) return print(to_text(list, level));
  print(json_text({{"model", *flags.run}, {"level", level}, {"coefficients", to_json(list)}}));
}

}  // namespace

void add_coefficients(CLI::App& app) {
  auto flags = std::make_shared<CoefficientFlags>();
  CLI::App& command = *app.add_subcommand(
      "coefficients", "List a linear model's coefficients, with intervals where the noise is known");
  command.add_option("run", flags->run, "Folder of a run, or its model.json")->type_name("RUN");
  command.add_option("--level", flags->level, "Of the intervals: how often they cover [0.95]")
      ->type_name("P");
  add_json_flag(command, flags->json);
  explain(
      command,
      {.about = "Coefficients are for columns as they are encoded: numbers in [0, 1], categories as 0 or 1, "
                "each less the mean over its column's categories. Those of other methods than auto have no "
                "intervals.",
       .examples = "ration coefficients run\n"
                   "ration coefficients run --level 0.9 --json\n"});
  command.callback([flags] { run_coefficients(*flags); });
}

}  // namespace ration::cli
