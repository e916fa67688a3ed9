#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/read_number.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/step_plan_flags.h"
#include "pictures/epsilon_plot.h"
#include "ration/base/error.h"
#include "text/answer.h"
#include "text/output.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct AccountFlags {
  StepPlanFlags plan;
  std::optional<std::string> delta;
  std::optional<std::string> accountant;
  std::optional<std::string> plot;
  bool json = false;
  bool quiet = false;
};

ordered_json to_json(const StepPlan& plan, const Answer& answer, double delta) {
  ordered_json json;
  if (answer.guarantee) {
    write_to(json, *answer.guarantee);
  } else {
    json["accountant"] = to_string(answer.accountant);
    json["delta"] = delta;
    json["refused"] = answer.refused;
  }
  write_to(json, plan);
  json["seconds"] = answer.seconds;
  return json;
}

ordered_json to_json(const StepPlan& plan, const std::vector<Answer>& answers, double delta) {
  ordered_json json{{"accountant", "all"}, {"delta", delta}};
  write_to(json, plan);
  json["results"] = ordered_json::array();
  double seconds = 0;
  for (const Answer& answer : answers) {
    json["results"].push_back(to_json(plan, answer, delta));
    seconds += answer.seconds;
  }
  json["seconds"] = seconds;
  return json;
}

std::vector<std::string> table_row(const Answer& answer) {
  const std::string name(to_string(answer.accountant));
  if (!answer.guarantee) return {name, "-", "-", "-", "refused: " + in_few_words(answer.refused)};
  const Guarantee& guarantee = *answer.guarantee;
  return {name, show_rounded_up(guarantee.epsilon),
          guarantee.epsilon_lower ? show_rounded_down(*guarantee.epsilon_lower) : "-",
          certified_word(guarantee), guarantee.detail};
}

std::string to_table(const StepPlan& plan, const std::vector<Answer>& answers, double delta) {
  TextTable table({{"accountant"},
                   {"epsilon", TextTable::Align::right},
                   {"at least", TextTable::Align::right},
                   {"certified"},
                   {"detail"}});
  bool all_certified = true;
  for (const Answer& answer : answers) {
    table.add_row(table_row(answer));
    all_certified = all_certified && (!answer.guarantee || answer.guarantee->certified);
  }
  std::string text = fmt::format("{}, delta {}\n\n{}", plan.describe(), delta, table.render());
  if (!all_certified)
    text += "\nCertified NO: an approximation, not a guarantee; do not report it as epsilon.\n";
  return text;
}

std::string only_the_answers(const std::vector<Answer>& answers) {
  std::string text;
  for (const Answer& answer : answers) {
    if (!answer.guarantee) continue;
    const std::string name = answers.size() == 1 ? "" : fmt::format("{} ", to_string(answer.accountant));
    text += fmt::format("{}{}\n", name, show_rounded_up(answer.guarantee->epsilon));
  }
  return text;
}

// One refused accountant among many is a row of the table; when nobody can answer, it is an error.
void require_an_answer(const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    if (answer.guarantee) return;
  }
  throw InputError(answers.front().refused);
}

void run_account(const AccountFlags& flags) {
  const StepPlan plan = flags.plan.read_plan();
  const std::vector<Accountant> accountants = read_accountants(flags.accountant, plan.sampling);
  const double delta = read_delta(flags.delta);
  std::vector<Answer> answers;
  for (const Accountant accountant : accountants) answers.push_back(ask(plan, accountant, delta));
  require_an_answer(answers);
  if (flags.plot) write_file_atomically(*flags.plot, plot_epsilon(plan, answers, delta));

  if (flags.json) {
    ordered_json json =
        flags.accountant == "all" ? to_json(plan, answers, delta) : to_json(plan, answers.front(), delta);
    if (flags.plot) json["plot"] = *flags.plot;
    print(json_text(json));
  } else if (flags.quiet) {
    print(only_the_answers(answers));
  } else {
    print(to_table(plan, answers, delta));
    if (flags.plot) print(fmt::format("\nplot: {}\n", *flags.plot));
  }
}

constexpr const char* kExamples =
    R"(ration account --sampling poisson --rate 0.01 --noise 1.0 --steps 1000 --delta 1e-5 --accountant pld
ration account --sampling full --noise 20 --steps 100 --delta 1e-8 --accountant all --plot epsilon.svg
ration account --sampling fixed --rate 0.01 --noise 2 --steps 500 --delta 1e-6 --json
ration account --sampling full --schedule sigmas.txt --delta 1e-8 --accountant zcdp
)";

}  // namespace

void add_account(CLI::App& app) {
  auto flags = std::make_shared<AccountFlags>();
  CLI::App& command = *app.add_subcommand("account", "Compute the epsilon that a run of noisy steps costs");
  flags->plan.add_sampling_to(command);
  flags->plan.add_noise_and_steps_to(command);
  flags->plan.add_schedule_to(command);
  add_delta_flag(command, flags->delta);
  add_accountant_to(command, flags->accountant, /*also_all=*/true);
  command.add_option("--plot", flags->plot, "Also plot epsilon against the number of steps, as SVG")
      ->type_name("FILE");
  add_json_flag(command, flags->json);
  command.add_flag("--quiet", flags->quiet, "Print only the epsilon");
  explain(command, {.examples = kExamples});
  command.callback([flags] { run_account(*flags); });
}

}  // namespace ration::cli
