#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands/commands.h"
#include "data/named_data.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/plan_flags.h"
#include "ration/base/error.h"
#include "ration/train/forecast.h"
#include "text/answer.h"
#include "text/forecast_text.h"
#include "text/output.h"
#include "text/plan_text.h"
#include "train/plan_docs.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct PlanFlagsOfCommand {
  PlanFlags plan;
  bool keys = false;
  bool forecast = false;
  bool json = false;
};

// The schema is public and may be read; the rows are not.
ResolvedPlan resolve_without_rows(const Plan& plan) {
  ResolvedPlan resolved = resolve(plan);
  if (!resolved.plan.schema.empty() || data::schema_of_data(plan.data)) read_schema_of(resolved.plan);
  return resolved;
}

Forecast forecast_without_rows(const ResolvedPlan& resolved) {
  Plan plan = resolved.plan;
  plan.noise.reset();  // found again for each budget
  if (!resolved.why_method.empty()) plan.method = MethodKind::automatic;
  const auto own = data::schema_of_data(plan.data);
  if (plan.schema.empty() && !own) {
    throw InputError(
        "plan: --forecast needs the public schema, which says what columns there are; give --schema FILE, or "
        "draft one "
        "with 'ration schema'");
  }
  data::Schema schema = plan.schema.empty() ? *own : data::read_schema(plan.schema);
  if (!plan.target.empty()) schema.label = plan.target;
  if (plan.row_norm)
    schema.max_row_norm = std::min(*plan.row_norm, schema.max_row_norm.value_or(*plan.row_norm));
  return forecast(plan, schema);
}

void run_plan(const PlanFlagsOfCommand& flags) {
  if (flags.keys) return print(plan_keys_as_markdown());
  const double start = now_in_seconds();
  const ResolvedPlan resolved = resolve_without_rows(flags.plan.read());
  std::optional<Forecast> buys;
  if (flags.forecast) buys = forecast_without_rows(resolved);
  if (!flags.json) {
    const char* const ledger = resolved.plan.ledger.empty() ? "" : " The ledger was not checked.";
    const std::string told = buys ? "\n" + to_text(*buys) : "";
    return print(fmt::format("{}{}\nNo row was read.{}\n", to_text(resolved), told, ledger));
  }
  ordered_json json;
  write_to(json, resolved);
  if (buys) write_to(json, *buys);
  json["seconds"] = now_in_seconds() - start;
  print(json_text(json));
}

constexpr const char* kExamples = R"(ration plan --plan examples/adult/plan.toml --epsilon 1 --delta 1e-6
ration plan adult.csv --schema adult.toml --epsilon 1 --delta 1e-6
ration plan --rows 50000 --method dpsgd --rate 0.01 --epochs 20 --epsilon 3 --delta 1e-6 --json
ration plan --schema examples/adult/adult.toml --rows 32561 --epsilon 1 --delta 1e-6 --forecast
)";

}  // namespace

void add_plan(CLI::App& app) {
  auto flags = std::make_shared<PlanFlagsOfCommand>();
  CLI::App& command =
      *app.add_subcommand("plan", "Show what a run would do and spend, without reading a row");
  command.add_flag("--keys", flags->keys, "Print every key of a plan with its default and its values");
  command.add_flag(
      "--forecast", flags->forecast,
      "Also tell what accuracy such a budget buys on made-up tables of the schema's shape, with and "
      "without privacy, and half and double the budget");
  flags->plan.add_to(command);
  add_json_flag(command, flags->json);
  explain(command, {.examples = kExamples});
  command.callback([flags] { run_plan(*flags); });
}

}  // namespace ration::cli
