#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "base/atomic_file.h"
#include "base/check.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "ration/base/error.h"
#include "ration/data/census.h"
#include "ration/train/run.h"
#include "text/answer.h"
#include "text/output.h"
#include "text/progress_bar.h"
#include "text/run_files.h"
#include "text/short_names.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t kRows = 30'000;
constexpr std::size_t kTestRows = 10'000;
constexpr double kDelta = 1e-6;
constexpr double kEpsilons[] = {0.01, 0.1, 1};  // the last is the one that is shown in full

// A folder that is gone afterwards.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "ration-demo-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw InternalError("demo: cannot make a temporary folder");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const fs::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

Plan demo_plan(const ScratchFolder& scratch, double epsilon) {
  Plan plan;
  plan.data = scratch.file("census.csv");
  plan.schema = scratch.file("census.toml");
  plan.rows = static_cast<double>(kRows);
  plan.epsilon = epsilon;
  plan.delta = kDelta;
  return plan;
}

constexpr std::uint64_t kSeed = 1;
constexpr std::uint64_t kTestSeed = 2;

std::string census(std::size_t rows, std::uint64_t seed) {
  std::ostringstream table;
  data::write_census(table, rows, seed);
  return table.str();
}

void write_inputs(const fs::path& folder) {
  write_file_atomically((folder / "census.csv").string(), census(kRows, kSeed));
  write_file_atomically((folder / "census.toml").string(), data::to_toml(data::census_schema()));
}

void write_files(const std::string& folder) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);  // what cannot be made cannot be written to either
  write_inputs(folder);
  write_file_atomically((fs::path(folder) / "census-test.csv").string(), census(kTestRows, kTestSeed));
  print(
      fmt::format("{0}: census.csv ({1} people nobody knows), census-test.csv ({2} more), census.toml (their "
                  "schema)\n",
                  folder, kRows, kTestRows));
}

struct DemoRun {
  double epsilon = 0;
  RunOutcome outcome;
  double accuracy = 0;
};

struct Demo {
  std::vector<DemoRun> runs;
  double majority = 0;
  const DemoRun& shown() const { return runs.back(); }
};

double share_of_majority(const data::Table& table) {
  const auto labels = table.rows.labels();
  const double ones = std::accumulate(labels.begin(), labels.end(), 0.0) / static_cast<double>(labels.size());
  return std::max(ones, 1 - ones);
}

Demo run_all(bool quiet, const std::optional<std::string>& out) {
  const ScratchFolder scratch;
  write_inputs(scratch.path());
  const data::Table others = data::census_table(kTestRows, kTestSeed);  // made up too, so public
  Demo demo{.runs = {}, .majority = share_of_majority(others)};
  ProgressBar bar(!quiet);
  for (const double epsilon : kEpsilons) {
    const bool shown = epsilon == std::end(kEpsilons)[-1];
    RunOptions options{.out = shown && out ? *out : scratch.file(fmt::format("run-{}", epsilon)),
                       .observers = {&bar}};
    DemoRun run{epsilon, train(demo_plan(scratch, epsilon), options, SecureRandom::for_this_thread()), 0};
    run.accuracy = *evaluate_public(run.outcome.model, others).accuracy;
    demo.runs.push_back(std::move(run));
  }
  return demo;
}

// Where the budget cannot carry a model, method auto takes another.
std::string what_was_trained(const ResolvedPlan& plan) {
  if (plan.plan.method == MethodKind::majority) return "majority, private";
  return fmt::format("{}, private", plan.plan.model.name());
}

std::string accuracy_table(const Demo& demo) {
  TextTable table({{"model"}, {"accuracy on other people", TextTable::Align::right}, {"budget spent"}});
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  table.add_row({"always 'no'", percent(demo.majority), "nothing: it read no row"});
  for (const DemoRun& run : demo.runs) {
    const Certificate& certificate = run.outcome.certificate;
    table.add_row({what_was_trained(run.outcome.plan), percent(run.accuracy),
                   fmt::format("epsilon {} of {}  {}", show_rounded_up(certificate.epsilon),
                               show(run.epsilon), bar(certificate.epsilon / run.epsilon, 20))});
  }
  return table.render();
}

// The largest weights: what the model learned.
std::string strongest_columns(const Model& model) {
  constexpr std::size_t kShown = 6;
  const std::vector<std::string> names = data::encoded_column_names(model.schema);
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(model.weights[a]) > std::abs(model.weights[b]);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
    text += fmt::format("  {:+.2f}  {}\n", model.weights[order[i]], with_short_number(names[order[i]]));
  }
  return text;
}

std::string to_text(const Demo& demo, const std::optional<std::string>& out, double seconds) {
  const DemoRun& shown = demo.shown();
  return fmt::format(
      "Predicting high incomes in a made-up census: {} people, logistic regression, delta {}.\n"
      "Nothing but the budget was set. What a row adds to an answer is bounded, noise covers it, and the run "
      "stops when\nits budget is spent.\n\n"
      "{}\n"
      "The largest weights of the model with epsilon {}:\n{}\n"
      "The certificate of that run, for the person responsible for the data:\n\n{}\n"
      "{}Three runs in {:.1f} s. For your own data, see ration schema --help, ration plan --help, ration "
      "train "
      "--help\n",
      kRows, kDelta, accuracy_table(demo), show(shown.epsilon), strongest_columns(shown.outcome.model),
      ration::to_text(shown.outcome.certificate),
      out ? fmt::format("{}: model.json, certificate.json and the rest of the run\n", *out) : "", seconds);
}

ordered_json to_json(const Demo& demo, double seconds) {
  ordered_json json{
      {"rows", kRows}, {"test_rows", kTestRows}, {"delta", kDelta}, {"majority", demo.majority}};
  json["results"] = ordered_json::array();
  for (const DemoRun& run : demo.runs) {
    const Certificate& certificate = run.outcome.certificate;
    json["results"].push_back({{"method", run.outcome.plan.plan.method.name()},
                               {"epsilon", certificate.epsilon},
                               {"accountant", to_string(certificate.accountant)},
                               {"relation", to_string(certificate.relation)},
                               {"noise_multiplier", run.outcome.plan.noise_multiplier},
                               {"steps", run.outcome.steps},
                               {"accuracy", run.accuracy}});
  }
  json["certificate"] = ordered_json::parse(ration::to_json(demo.shown().outcome.certificate));
  json["seconds"] = seconds;
  return json;
}

}  // namespace

void add_demo(CLI::App& app) {
  struct Flags {
    bool json = false;
    bool quiet = false;
    std::optional<std::string> out, files;
  };
  CLI::App& command =
      *app.add_subcommand("demo", "Train on a made-up census and show the result and its certificate");
  auto flags = std::make_shared<Flags>();
  add_json_flag(command, flags->json);
  command.add_flag("--quiet", flags->quiet, "Show no progress bar");
  command.add_option("--out", flags->out, "Keep the files of the last run in this folder")->type_name("DIR");
  command
      .add_option("--files", flags->files, "Only write the census and its schema to this folder, to train on")
      ->type_name("DIR");
  explain(command,
          {.examples = "ration demo\nration demo --out run\nration demo --files .\n", .files = run_files()});
  command.callback([flags] {
    if (flags->files) return write_files(*flags->files);
    const double start = now_in_seconds();
    const Demo demo = run_all(flags->quiet, flags->out);
    const double seconds = now_in_seconds() - start;
    print(flags->json ? json_text(to_json(demo, seconds)) : to_text(demo, flags->out, seconds));
  });
}

}  // namespace ration::cli
