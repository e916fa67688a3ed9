#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "answer.h"
#include "commands.h"
#include "output.h"
#include "ration/base/error.h"
#include "ration/base/read_number.h"
#include "ration/privacy/calibrate.h"
#include "table.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

constexpr double kDelta = 1e-5;
constexpr double kTarget = 3;

const StepPlan kPlan{.sampling = Sampling::poisson,
                     .rate = 0.01,
                     .relation = Relation::add_remove,
                     .noise = {{.noise_multiplier = 1, .steps = 1000}},
                     .schedule_file = {}};

struct DemoRow {
  Answer answer;
  std::optional<double> noise_for_target;
};

const char* explain(Accountant accountant) {
  switch (accountant) {
    case Accountant::rdp:
      return "Renyi divergence of each step, summed; the best order wins";
    case Accountant::pld:
      return "the whole distribution of the privacy loss, by FFT; brackets the truth";
    case Accountant::zcdp:
      return "one number, rho, per step; simple, but knows no sampling";
    case Accountant::tcdp:
      return "rho with a limit on the order; amplifies fixed-size subsets";
    case Accountant::gdp:
      return "as if the loss were Gaussian: a limit theorem, so NOT a guarantee here";
    case Accountant::advanced:
      return "the 2010 theorem for any (epsilon, delta) steps: the old baseline";
  }
  return "";
}

std::optional<double> noise_for_target(Accountant accountant) {
  const auto plan = [](double noise) {
    StepPlan changed = kPlan;
    changed.noise.front().noise_multiplier = noise;
    return changed.event();
  };
  try {
    return calibrate_noise(plan, kPlan.relation, accountant, {.epsilon = kTarget, .delta = kDelta});
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::vector<DemoRow> compute() {
  std::vector<DemoRow> rows;
  for (const Accountant accountant : kAccountants) {
    DemoRow row{.answer = ask(kPlan, accountant, kDelta), .noise_for_target = {}};
    if (row.answer.guarantee) row.noise_for_target = noise_for_target(accountant);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> table_row(const DemoRow& row) {
  const Accountant accountant = row.answer.accountant;
  const std::string name(to_string(accountant));
  if (!row.answer.guarantee) return {name, "-", "-", "refused", explain(accountant)};
  const std::string noise = row.noise_for_target ? show_rounded_up(*row.noise_for_target) : "-";
  return {name, show_rounded_up(row.answer.guarantee->epsilon), noise,
          row.answer.guarantee->certified ? "yes" : "NO", explain(accountant)};
}

const Guarantee* guarantee_of(const std::vector<DemoRow>& rows, Accountant accountant) {
  for (const DemoRow& row : rows) {
    if (row.answer.accountant == accountant && row.answer.guarantee) return &*row.answer.guarantee;
  }
  return nullptr;
}

// Why an approximation is not certified, if this very plan shows it.
std::string warn_if_below_the_truth(const std::vector<DemoRow>& rows) {
  const Guarantee* const approximate = guarantee_of(rows, Accountant::gdp);
  const Guarantee* const bracket = guarantee_of(rows, Accountant::pld);
  if (!approximate || approximate->certified || !bracket || !bracket->epsilon_lower) return "";
  if (approximate->epsilon >= *bracket->epsilon_lower) return "";
  return fmt::format("Here gdp says {}, but pld proves that the true epsilon is at least {}.\n",
                     show_rounded_up(approximate->epsilon), show_rounded_down(*bracket->epsilon_lower));
}

// The plan, delta, rate, the table, a warning or nothing.
constexpr const char* kText = R"(What does a private training run cost? The accountants at work on one plan:
{}, delta {}.
Each step draws every row with chance {}, clips its gradient, and adds noise to the sum.

{}
A smaller certified epsilon for the same run is a better proof, not a different run: with the best proof
you may train with less noise. NO marks an approximation; refused, that no theorem covers the plan.
{}
Next: ration account --help, ration calibrate --help. Training itself is being built.
)";

std::string to_text(const std::vector<DemoRow>& rows) {
  Table table({{"accountant"},
               {"epsilon", Table::Align::right},
               {fmt::format("noise for eps {}", kTarget), Table::Align::right},
               {"certified"},
               {"how it counts"}});
  for (const DemoRow& row : rows) table.add_row(table_row(row));
  return fmt::format(kText, kPlan.describe(), kDelta, kPlan.rate, table.render(),
                     warn_if_below_the_truth(rows));
}

ordered_json to_json(const std::vector<DemoRow>& rows, double seconds) {
  ordered_json json{{"delta", kDelta}, {"epsilon_target", kTarget}};
  kPlan.write_to(json);
  json["results"] = ordered_json::array();
  for (const DemoRow& row : rows) {
    ordered_json entry{{"accountant", to_string(row.answer.accountant)}};
    if (row.answer.guarantee) {
      write_to(entry, *row.answer.guarantee);
    } else {
      entry["refused"] = row.answer.refused;
    }
    if (row.noise_for_target) entry["noise_for_target"] = *row.noise_for_target;
    json["results"].push_back(entry);
  }
  json["seconds"] = seconds;
  return json;
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App& command =
      *app.add_subcommand("demo", "The accountants at work on an example; takes about a second");
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "One JSON object on standard output, nothing else there");
  command.footer("\nExamples:\n  ration demo\n  ration demo --json\n");
  command.callback([json] {
    const double start = now_in_seconds();
    const std::vector<DemoRow> rows = compute();
    print(*json ? to_json(rows, now_in_seconds() - start).dump(2) + "\n" : to_text(rows));
  });
}

}  // namespace ration::cli
