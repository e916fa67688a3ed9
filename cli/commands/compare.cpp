#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>

#include "base/read_number.h"
#include "commands/commands.h"
#include "compare/job_inputs.h"
#include "compare/run_comparison.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "interrupt.h"
#include "pictures/compare_plots.h"
#include "ration/base/error.h"
#include "text/compare_progress.h"
#include "text/compare_text.h"
#include "text/output.h"

namespace ration::cli {
namespace {

using compare::Comparison;
using compare::Results;

struct Flags {
  std::optional<std::string> plan, data, schema, models, methods, epsilons, delta, folds, repeats, threads,
      ledger, out;
  bool is_public = false;
  bool json = false;
  bool quiet = false;
  bool no_plots = false;
};

std::vector<std::string> names_in(const std::optional<std::string>& list, const char* flag) {
  std::vector<std::string> names;
  std::istringstream in(list.value_or(""));
  for (std::string name; std::getline(in, name, ',');) {
    if (name.empty())
      throw InputError(fmt::format("{}: expected names separated by commas, got '{}'", flag, *list));
    names.push_back(name);
  }
  if (list && names.empty()) throw InputError(fmt::format("{}: expected a name, got none", flag));
  return names;
}

// With --schema, --data names files of one data set in place of those of a plan.
void set_data(Comparison& comparison, const Flags& flags) {
  const std::vector<std::string> names = names_in(flags.data, "--data");
  if (!flags.schema) return choose_data(comparison, names, "--data");
  if (names.empty()) throw InputError("--schema describes the files that --data names; give both");
  std::string stem = std::filesystem::path(names.front()).filename().string();
  stem = stem.substr(0, stem.find('.'));
  comparison.data = {{.name = stem, .files = names, .schema = *flags.schema, .beside = "."}};
  comparison.is_public = false;  // the plan file said it of its own
}

void set_numbers(Comparison& comparison, const Flags& flags) {
  if (flags.epsilons) {
    comparison.epsilons.clear();
    for (const std::string& epsilon : names_in(flags.epsilons, "--epsilons"))
      comparison.epsilons.push_back(read_number("--epsilons", "epsilon", epsilon, greater_than(0)));
  }
  if (flags.delta)
    comparison.delta = read_number("--delta", "delta", *flags.delta, greater_than(0).less_than(1));
  if (flags.folds) comparison.folds = static_cast<std::size_t>(read_count("--folds", "folds", *flags.folds));
  if (flags.repeats)
    comparison.repeats = static_cast<std::size_t>(read_count("--repeats", "repeats", *flags.repeats));
}

// What a comparison is about if nobody says: softmax if some label has more than two classes.
std::string usual_model(const Comparison& comparison) {
  const bool two =
      std::all_of(comparison.data.begin(), comparison.data.end(),
                  [](const compare::DataSet& set) { return compare::schema_of(set).classes() <= 2; });
  return std::string(to_string(two ? GlmLoss::logistic : GlmLoss::softmax));
}

Comparison comparison_of(const Flags& flags) {
  Comparison comparison = flags.plan ? compare::read_comparison(*flags.plan) : Comparison{};
  set_data(comparison, flags);
  auto models = names_in(flags.models, "--models");
  if (models.empty() && comparison.models.empty()) models = {std::string(kAuto)};
  for (std::string& model : models) {
    if (model == kAuto) model = usual_model(comparison);
  }
  choose_models(comparison, models, "--models");
  choose_methods(comparison, names_in(flags.methods, "--methods"), "--methods");
  set_numbers(comparison, flags);
  comparison.is_public = comparison.is_public || flags.is_public;
  if (comparison.data.empty())
    throw InputError("--data is needed: data sets of --plan, or files with their --schema");
  if (comparison.methods.empty())
    throw InputError("--methods is needed, such as auto,majority,nonprivate, or a --plan that lists some");
  return comparison;
}

void run_compare(const Flags& flags) {
  if (!flags.out) throw InputError("--out is needed: the folder for tables and plots");
  const Comparison comparison = comparison_of(flags);
  const Interrupt interrupt;
  compare::CompareOptions options{
      .out = *flags.out, .ledger = flags.ledger.value_or(""), .stop = &interrupt.flag()};
  if (flags.threads)
    options.threads = static_cast<std::size_t>(read_count("--threads", "threads", *flags.threads));
  const Results results = [&] {
    CompareProgressBar bar(!flags.quiet);
    options.on_progress = [&bar](const compare::CompareProgress& progress) { bar.show(progress); };
    return run_comparison(comparison, options);
  }();
  const std::vector<std::string> plots =
      flags.no_plots ? std::vector<std::string>{} : write_plots(results, *flags.out);
  if (flags.json) {
    print(compare::to_json(results));
  } else if (!flags.quiet) {
    print(to_text(results, *flags.out, plots));
  }
  if (!results.finished()) {
    throw Interrupted(fmt::format("stopped after {} of {} jobs; run the same command again to continue",
                                  results.jobs_done, results.jobs));
  }
}

constexpr const char* kAbout =
    R"(Runs every method on every data set, model, epsilon, fold and repeat, on all cores, and writes tables
and plots to a folder. If it was interrupted, run the same command again to continue.

NOT PRIVATE: the results are computed from the rows themselves, without noise. Compare on public data only;
no privacy guarantee covers the results, or a choice based on them. Say that the rows are public by --public,
or by 'public = true' in the plan file.)";

constexpr const char* kExamples = R"(ration compare --plan experiments/e1.toml --out e1
ration compare --plan experiments/e1.toml --data a9a --methods dpsgd --epsilons 0.1,0.4 \
  --folds 3 --repeats 1 --out cmp
ration compare --data census.csv --schema census.toml --public --methods dpsgd --epsilons 0.1,1 \
  --delta 1e-6 --out cmp --json
)";

}  // namespace

void add_compare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("compare", "Compare methods on public data by cross-validation");
  command.add_option("--plan", flags->plan, "What to compare (TOML, see docs/compare.md); flags override it")
      ->type_name("FILE");
  command
      .add_option("--data", flags->data,
                  "Data sets of the plan file, or the files of one data set with its --schema")
      ->type_name("NAMES");
  command.add_option("--schema", flags->schema, "Schema of the files")->type_name("FILE");
  command.add_flag("--public", flags->is_public,
                   "The rows are public; needed, unless the plan file says 'public = true'");
  command.add_option("--ledger", flags->ledger, "Refuse rows that have a budget in this ledger")
      ->type_name("FILE");
  command
      .add_option("--models", flags->models,
                  "Models to compare (default: all in the plan file, or logistic; "
                  "softmax for more than two classes)")
      ->type_name("NAMES");
  command.add_option("--methods", flags->methods, "Methods to compare (default: all in the plan file)")
      ->type_name("NAMES");
  command.add_option("--epsilons", flags->epsilons, "Budgets to compare at, each > 0, separated by commas")
      ->type_name("LIST");
  command.add_option("--delta", flags->delta, "Delta of every budget, 0 < delta < 1")->type_name("DELTA");
  command.add_option("--folds", flags->folds, "Folds of the cross-validation, >= 2 (default: 10)")
      ->type_name("K");
  command
      .add_option("--repeats", flags->repeats,
                  "Repeats of the cross-validation, each with new folds (default: 1)")
      ->type_name("N");
  command.add_option("--threads", flags->threads, "Number of jobs at a time (default: one per processor)")
      ->type_name("N");
  command.add_option("--out", flags->out, "Output folder; an unfinished comparison in it is continued")
      ->type_name("DIR");
  command.add_flag("--no-plots", flags->no_plots, "Write tables only");
  command.add_flag("--quiet", flags->quiet, "Show no progress bar and no table");
  add_json_flag(command, flags->json);
  explain(command, {.about = kAbout,
                    .examples = kExamples,
                    .files = {{"results.md, results.csv, results.json", "The tables"},
                              {"runs.csv", "One line for each run"},
                              {"trace.csv", "The runs step by step"},
                              {"*.svg, *.png", "The plots"}}});
  command.callback([flags] { run_compare(*flags); });
}

}  // namespace ration::cli
