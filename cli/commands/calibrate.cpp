#include "ration/privacy/calibrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/read_number.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/step_plan_flags.h"
#include "ration/base/error.h"
#include "text/answer.h"
#include "text/output.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

enum class Unknown { noise, steps, rate };

constexpr NamedValue<Unknown> kUnknowns[] = {
    {Unknown::noise, "noise", "The smallest noise multiplier."},
    {Unknown::steps, "steps", "The largest number of steps."},
    {Unknown::rate, "rate", "The largest sampling rate."},
};
constexpr NameTable<Unknown> name_table(Unknown) {
  return {"--for", kUnknowns};
}

struct CalibrateFlags {
  StepPlanFlags plan;
  std::optional<std::string> epsilon, delta;
  std::optional<std::string> accountant;
  std::string solve_for = "noise";
  bool json = false;
  bool quiet = false;
};

// What was found for one accountant: the plan completed, and its guarantee.
struct Solution {
  StepPlan plan;
  Answer answer;
};

// The plan with everything but the unknown; the unknown's place holds 1.
StepPlan read_incomplete(const StepPlanFlags& flags, Unknown unknown) {
  if (unknown == Unknown::noise && flags.noise) {
    throw InputError(
        "--noise: with --for noise the noise is the answer; leave --noise out, or use --for steps or rate");
  }
  if (unknown == Unknown::steps && flags.steps) {
    throw InputError("--steps: with --for steps the number of steps is the answer; leave --steps out");
  }
  StepPlan plan = unknown == Unknown::rate ? flags.read_sampling_without_rate() : flags.read_sampling();
  plan.noise = {{unknown == Unknown::noise ? 1 : flags.read_noise(),
                 unknown == Unknown::steps ? 1 : flags.read_steps()}};
  return plan;
}

StepPlan solve(StepPlan plan, Unknown unknown, Accountant accountant, const Budget& budget) {
  NoiseRun& run = plan.noise.front();
  const auto noise_plan = [&plan, &run](double noise) { return run.noise_multiplier = noise, plan.event(); };
  const auto steps_plan = [&plan, &run](std::int64_t steps) { return run.steps = steps, plan.event(); };
  const auto rate_plan = [&plan](double rate) { return plan.rate = rate, plan.event(); };
  switch (unknown) {
    case Unknown::noise:
      run.noise_multiplier = calibrate_noise(noise_plan, plan.relation, accountant, budget);
      break;
    case Unknown::steps:
      run.steps = calibrate_steps(steps_plan, plan.relation, accountant, budget);
      break;
    case Unknown::rate:
      plan.rate = calibrate_rate(rate_plan, plan.relation, accountant, budget);
      break;
  }
  return plan;
}

Solution solve_or_refuse(const StepPlan& plan, Unknown unknown, Accountant accountant, const Budget& budget) {
  Solution solution{.plan = plan, .answer = {.accountant = accountant, .guarantee = {}, .refused = {}}};
  const double start = now_in_seconds();
  try {
    solution.plan = solve(plan, unknown, accountant, budget);
    solution.answer = ask(solution.plan, accountant, budget.delta);
  } catch (const InputError& error) {
    solution.answer.refused = error.what();
  }
  solution.answer.seconds = now_in_seconds() - start;
  return solution;
}

std::string show_unknown(const StepPlan& plan, Unknown unknown) {
  if (unknown == Unknown::noise) return show_rounded_up(plan.noise.front().noise_multiplier);
  if (unknown == Unknown::rate) return show_rounded_down(plan.rate);
  return fmt::format("{}", plan.steps());
}

ordered_json to_json(const Solution& solution, const CalibrateFlags& flags, const Budget& budget) {
  ordered_json json;
  if (solution.answer.guarantee) {
    write_to(json, solution.plan);
    write_to(json, *solution.answer.guarantee);
  } else {
    json["accountant"] = to_string(solution.answer.accountant);
    json["delta"] = budget.delta;
    json["refused"] = solution.answer.refused;
  }
  json["solved_for"] = flags.solve_for;
  json["epsilon_target"] = budget.epsilon;
  json["seconds"] = solution.answer.seconds;
  return json;
}

ordered_json to_json(const std::vector<Solution>& solutions, const CalibrateFlags& flags,
                     const Budget& budget) {
  ordered_json json{{"accountant", "all"},
                    {"epsilon_target", budget.epsilon},
                    {"delta", budget.delta},
                    {"solved_for", flags.solve_for},
                    {"results", ordered_json::array()}};
  double seconds = 0;
  for (const Solution& solution : solutions) {
    json["results"].push_back(to_json(solution, flags, budget));
    seconds += solution.answer.seconds;
  }
  json["seconds"] = seconds;
  return json;
}

std::string describe_question(const StepPlan& plan, Unknown unknown, const Budget& budget) {
  const char* const wanted = unknown == Unknown::noise   ? "smallest noise multiplier"
                             : unknown == Unknown::steps ? "largest number of steps"
                                                         : "largest rate";
  std::string text = fmt::format("{} within epsilon {} at delta {}: ", wanted, budget.epsilon, budget.delta);
  text +=
      plan.sampling == Sampling::full ? "full batch" : fmt::format("{} sampling", in_words(plan.sampling));
  if (plan.sampling != Sampling::full && unknown != Unknown::rate)
    text += fmt::format(" at rate {}", plan.rate);
  if (unknown != Unknown::noise) text += fmt::format(", noise {}", plan.noise.front().noise_multiplier);
  if (unknown != Unknown::steps) text += fmt::format(", {} steps", plan.steps());
  return text + fmt::format(", relation {}\n\n", to_string(plan.relation));
}

std::string to_table(const std::vector<Solution>& solutions, Unknown unknown, const std::string& title) {
  TextTable table({{"accountant"},
                   {title, TextTable::Align::right},
                   {"epsilon", TextTable::Align::right},
                   {"certified"},
                   {"detail"}});
  for (const Solution& solution : solutions) {
    const Answer& answer = solution.answer;
    const std::string name(to_string(answer.accountant));
    if (answer.guarantee) {
      table.add_row({name, show_unknown(solution.plan, unknown), show_rounded_up(answer.guarantee->epsilon),
                     certified_word(*answer.guarantee), answer.guarantee->detail});
    } else {
      table.add_row({name, "-", "-", "-", "refused: " + in_few_words(answer.refused)});
    }
  }
  return table.render();
}

std::string only_the_answers(const std::vector<Solution>& solutions, Unknown unknown) {
  std::string text;
  for (const Solution& solution : solutions) {
    if (!solution.answer.guarantee) continue;
    const std::string name =
        solutions.size() == 1 ? "" : fmt::format("{} ", to_string(solution.answer.accountant));
    text += fmt::format("{}{}\n", name, show_unknown(solution.plan, unknown));
  }
  return text;
}

void require_an_answer(const std::vector<Solution>& solutions) {
  for (const Solution& solution : solutions) {
    if (solution.answer.guarantee) return;
  }
  throw InputError(solutions.front().answer.refused);
}

void run_calibrate(const CalibrateFlags& flags) {
  const auto unknown = named<Unknown>(flags.solve_for);
  const StepPlan plan = read_incomplete(flags.plan, unknown);
  const std::vector<Accountant> accountants = read_accountants(flags.accountant, plan.sampling);
  const Budget budget{.epsilon = read_epsilon(flags.epsilon), .delta = read_delta(flags.delta)};
  std::vector<Solution> solutions;
  for (const Accountant accountant : accountants) {
    solutions.push_back(solve_or_refuse(plan, unknown, accountant, budget));
  }
  require_an_answer(solutions);
  if (flags.json) {
    const bool all = flags.accountant == "all";
    print(json_text(all ? to_json(solutions, flags, budget) : to_json(solutions.front(), flags, budget)));
  } else if (flags.quiet) {
    print(only_the_answers(solutions, unknown));
  } else {
    print(describe_question(plan, unknown, budget) + to_table(solutions, unknown, flags.solve_for));
  }
}

constexpr const char* kExamples =
    R"(ration calibrate --sampling poisson --rate 0.01 --steps 1000 --epsilon 3 --delta 1e-5 --accountant pld
ration calibrate --sampling full --steps 100 --epsilon 1 --delta 1e-8 --accountant all
ration calibrate --for steps --sampling poisson --rate 0.01 --noise 1 --epsilon 3 --delta 1e-5
ration calibrate --for rate --sampling fixed --noise 2 --steps 500 --epsilon 1 --delta 1e-6 --json
)";

}  // namespace

void add_calibrate(CLI::App& app) {
  auto flags = std::make_shared<CalibrateFlags>();
  CLI::App& command =
      *app.add_subcommand("calibrate", "Find the noise (or steps, or rate) that meets a target epsilon");
  flags->plan.add_sampling_to(command);
  flags->plan.add_noise_and_steps_to(command);
  command.add_option("--epsilon", flags->epsilon, "Target epsilon, > 0; the answer never exceeds it")
      ->type_name("EPSILON");
  add_delta_flag(command, flags->delta);
  offer_names<Unknown>(
      command.add_option("--for", flags->solve_for, "What to solve for: noise (default), steps or rate")
          ->type_name("WHAT"));
  add_accountant_to(command, flags->accountant, /*also_all=*/true);
  add_json_flag(command, flags->json);
  command.add_flag("--quiet", flags->quiet, "Print only the answer");
  explain(command, {.examples = kExamples});
  command.callback([flags] { run_calibrate(*flags); });
}

}  // namespace ration::cli
