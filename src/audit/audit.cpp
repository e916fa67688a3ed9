#include "audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "audit/attacks.h"
#include "base/check.h"
#include "base/quote.h"
#include "data/named_data.h"
#include "ration/base/error.h"
#include "ration/data/table.h"
#include "ration/train/fit.h"
#include "train/unit_of_plan.h"

namespace ration::audit {
namespace {

// Where a plan leaves its number of rows open. Under add_remove it only divides: many, so that the weights
// stay where the model is undecided about the canary. Under replace_one all of them are there.
constexpr double kDeclaredRows = 100'000;
constexpr double kRowsThereAre = 1000;

// What is put into the tables is a row.
void require_rows(const Plan& plan) {
  if (plan.unit.empty()) return;
  throw InputError(
      fmt::format("audit: unit = {}: the attacks put in rows, one by one; leave unit and rows_per_unit out "
                  "of plan and schema to audit the same plan for rows",
                  in_quotes(plan.unit)));
}

bool is_gaussian(const ResolvedPlan& plan) {
  if (plan.fixed() == nullptr) return false;
  const std::vector<CountedEvent> events = flatten(plan.event());
  return std::all_of(events.begin(), events.end(), [](const CountedEvent& one) {
    return std::holds_alternative<Event::Gaussian>(one.event.node());
  });
}

Claim claim_of(const ResolvedPlan& plan) {
  if (!plan.is_private()) {
    throw InputError(
        fmt::format("audit: method {} promises nothing that could be audited", plan.plan.method.name()));
  }
  return {.epsilon = plan.cost.epsilon,
          .delta = plan.budget.delta,
          .relation = plan.relation,
          .is_gaussian = is_gaussian(plan)};
}

// What a run of one plan shows to the attackers that look on; one thread at a time.
class Attackers {
 public:
  Attackers(const ResolvedPlan& plan, const data::Schema& schema, std::span<const Canary> canaries,
            const SharedRows& common)
      : plan_(plan),
        schema_(schema),
        black_box_(untrained_model(plan.plan, schema), canaries),
        white_box_(plan, untrained_model(plan.plan, schema), canaries, common) {}

  // One score per canary.
  void run_on(const SharedRows& rows, RandomSource& random, std::span<double> white,
              std::span<double> black) {
    white_box_.begin();
    const Fitted fitted =
        fit(plan_, schema_, rows, random,
            {.threads = 1, .certificate = false, .error_bars = false, .releases = &white_box_});
    std::copy(white_box_.scores().begin(), white_box_.scores().end(), white.begin());
    black_box_.score(fitted.model, black);
  }
  bool saw_gradients() const { return white_box_.saw_any(); }

 private:
  const ResolvedPlan& plan_;
  const data::Schema& schema_;
  BlackBox black_box_;
  WhiteBox white_box_;
};

constexpr std::size_t kWhite = 0;
constexpr std::size_t kBlack = 1;
constexpr const char* kViewNames[] = {"white box", "black box"};

// Attackers have scratch memory; as many are made as there are threads.
class TrainingGame {
 public:
  explicit TrainingGame(const Subject& subject) : subject_(subject) {}

  Game game() {
    return {.scores = 2, .play = [this](World world, RandomSource& random, std::span<double> scores) {
              play(world, random, scores);
            }};
  }

  // Whether there is more to see of a run than its model.
  bool releases_gradients() {
    auto attackers = borrow();
    double white = 0;
    double black = 0;
    attackers->run_on(subject_.neighbours.without, SecureRandom::for_this_thread(), {&white, 1}, {&black, 1});
    return attackers->saw_gradients();
  }

 private:
  void play(World world, RandomSource& random, std::span<double> scores) {
    const Neighbours& tables = subject_.neighbours;
    auto attackers = borrow();
    attackers->run_on(world == World::with ? tables.with : tables.without, random, scores.subspan(kWhite, 1),
                      scores.subspan(kBlack, 1));
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(attackers));
  }

  std::unique_ptr<Attackers> borrow() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto attackers = std::move(idle_.back());
        idle_.pop_back();
        return attackers;
      }
    }
    const Neighbours& tables = subject_.neighbours;
    return std::make_unique<Attackers>(subject_.plan, tables.schema, std::span(&tables.canary, 1),
                                       tables.common);
  }

  const Subject& subject_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Attackers>> idle_;
};

std::vector<std::size_t> views_of(View wanted, bool releases_gradients) {
  std::vector<std::size_t> views;
  if (wanted != View::black_box && releases_gradients) views.push_back(kWhite);
  if (wanted != View::white_box || !releases_gradients) views.push_back(kBlack);
  return views;
}

// --- one run with many canaries

// From a guess on every canary to one on few, of which the attacker is surest.
std::vector<std::size_t> numbers_of_guesses(std::size_t canaries) {
  std::vector<std::size_t> numbers;
  for (std::size_t guesses = canaries / 2 * 2; guesses >= 10; guesses = guesses / 3 / 2 * 2)
    numbers.push_back(guesses);
  return numbers;
}

// "There" for the largest scores, "not there" for as many of the smallest.
std::uint64_t right_guesses(const std::vector<double>& scores, const std::vector<bool>& present,
                            std::size_t guesses) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < guesses / 2; ++i) {
    right += present[order[i]] ? 1 : 0;
    right += present[order[order.size() - 1 - i]] ? 0 : 1;
  }
  return right;
}

double bound_of_one_run(const std::vector<double>& scores, const std::vector<bool>& present, double delta,
                        double failure) {
  const std::vector<std::size_t> tried = numbers_of_guesses(scores.size());
  double best = 0;
  for (const std::size_t guesses : tried) {
    const GuessedCoins seen{scores.size(), guesses, right_guesses(scores, present, guesses)};
    best = std::max(best, one_run_epsilon_at_least(seen, delta, failure / static_cast<double>(tried.size())));
  }
  return best;
}

struct OneRun {
  std::vector<bool> present;
  std::vector<double> scores[2];  // white, black
};

std::size_t canaries_for(const Subject& subject, const AuditOptions& options) {
  if (!subject.made_up) return 0;
  std::size_t canaries = options.canaries;
  if (subject.claim.relation == Relation::replace_one) {
    canaries = std::min(canaries, static_cast<std::size_t>(*subject.plan.plan.rows));
  }
  return canaries < 10 ? 0 : canaries;
}

OneRun run_with_canaries(const Subject& subject, std::size_t canaries) {
  const bool replaces = subject.claim.relation == Relation::replace_one;
  const std::size_t others =
      replaces ? static_cast<std::size_t>(*subject.plan.plan.rows) - canaries : std::size_t{0};
  const CanaryTable table(subject.plan.plan, subject.claim.relation, canaries, others);
  RandomSource& random = SecureRandom::for_this_thread();
  OneRun run{.present = std::vector<bool>(canaries), .scores = {}};
  for (std::size_t i = 0; i < canaries; ++i) run.present[i] = random.next_word() % 2 == 1;
  for (auto& scores : run.scores) scores.resize(canaries);
  Attackers(subject.plan, table.schema(), table.canaries(), table.others_that_pull())
      .run_on(table.rows(run.present), random, run.scores[kWhite], run.scores[kBlack]);
  return run;
}

// --- the report

// Adds findings that share what may fail.
class Findings {
 public:
  Findings(const Claim& claim, double failure_each) : claim_(claim), failure_(failure_each) {}

  void add(std::string attack, std::string theorem, double bound, bool counts = true) {
    all_.push_back({.attack = std::move(attack),
                    .theorem = std::move(theorem),
                    .claim = claim_.epsilon,
                    .bound = bound,
                    .confidence = 1 - failure_,
                    .counts = counts});
  }
  std::vector<Finding> take() { return std::move(all_); }

 private:
  const Claim& claim_;
  double failure_;
  std::vector<Finding> all_;
};

Plan without_private_files(Plan plan) {
  plan.ledger.clear();
  plan.checkpoint_every.reset();
  return plan;
}

std::size_t other_rows_of(const ResolvedPlan& plan) {
  if (plan.relation == Relation::add_remove) return 0;
  return static_cast<std::size_t>(*plan.plan.rows) - 1;
}

std::string describe(const Subject& subject) {
  return fmt::format("{} of a {} model on {}", subject.plan.plan.method.name(),
                     subject.plan.plan.model.name(),
                     subject.made_up ? "made-up tables" : subject.plan.plan.data);
}

// What rows are decides model and method of a plan that leaves them open, and they are about to be forgotten.
Plan with_choices_of_schema(Plan plan) {
  Plan whole = plan;
  if (!whole.rows) whole.rows = kDeclaredRows;
  const Plan chosen = resolve(whole).plan;
  plan.model = chosen.model;
  plan.method = chosen.method;
  plan.lr = chosen.lr;
  plan.clip_bound = chosen.clip_bound;
  return plan;
}

}  // namespace

bool Report::contradicts() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.contradicts(); });
}

Subject worst_case_subject(Plan plan) {
  plan = without_private_files(std::move(plan));
  if (!plan.rows) plan.rows = data::public_rows(plan.data);
  settle_unit(plan);
  require_rows(plan);
  plan = with_choices_of_schema(std::move(plan));
  plan.data.clear();
  plan.schema.clear();
  plan.target.clear();
  if (plan.model.sees_scattering()) {
    throw InputError(fmt::format("audit: model {} needs images, and no table is made up of them; give --data",
                                 plan.model.name()));
  }
  const bool is_open = !plan.rows;
  if (is_open) plan.rows = kDeclaredRows;
  ResolvedPlan resolved = resolve(plan);
  if (is_open && resolved.relation == Relation::replace_one) {
    plan.rows = kRowsThereAre;
    resolved = resolve(plan);
  }
  const Claim claim = claim_of(resolved);
  Neighbours neighbours = worst_case_neighbours(resolved.plan, resolved.relation, other_rows_of(resolved));
  return {std::move(resolved), claim, std::move(neighbours), true};
}

Subject subject_in_data(Plan plan) {
  plan = without_private_files(std::move(plan));
  ResolvedPlan resolved = resolve(plan);
  require_rows(resolved.plan);
  data::Schema schema = read_schema_of(resolved.plan);
  const data::Table table = data::read_table(data::find_data(plan.data), schema);
  const Claim claim = claim_of(resolved);
  Neighbours neighbours = neighbours_in(std::move(schema), table.rows, resolved.relation);
  return {std::move(resolved), claim, std::move(neighbours), false};
}

Report audit_training(const Subject& subject, const AuditOptions& options) {
  require("audit", "trials", static_cast<double>(options.trials), at_least(100));
  require("audit", "confidence", options.confidence, greater_than(0).less_than(1));
  TrainingGame runs(subject);
  const auto views = views_of(options.view, runs.releases_gradients());
  const std::size_t canaries = canaries_for(subject, options);
  const std::size_t counted =
      views.size() * (1 + (subject.claim.is_gaussian ? 1u : 0u) + (canaries > 0 ? 1u : 0u));
  const double failure = (1 - options.confidence) / static_cast<double>(counted);

  // Two networks at once would share libtorch's threads.
  PlayOptions play_options{.trials = options.trials,
                           .threads = subject.plan.plan.model.is_network() ? 1 : options.threads};
  if (options.on_progress) {
    play_options.on_progress = [&](std::size_t done) {
      return options.on_progress(done, 2 * options.trials);
    };
  }
  const std::vector<Played> played = play(runs.game(), play_options);

  Report report{.subject = describe(subject), .claim = subject.claim, .confidence = options.confidence};
  Findings findings(subject.claim, failure);
  for (const std::size_t view : views) {
    const Evidence evidence = weigh(played[view], subject.claim.delta, failure);
    const std::string attack =
        fmt::format("{}, two neighbours, {} runs each", kViewNames[view], options.trials);
    findings.add(attack, "Clopper-Pearson", evidence.epsilon);
    findings.add(attack, "Gaussian DP", gaussian_epsilon_at_least(evidence.mu, subject.claim.delta),
                 subject.claim.is_gaussian);
    report.curves.push_back({kViewNames[view], evidence.roc});
  }
  if (canaries > 0) {
    const OneRun run = run_with_canaries(subject, canaries);
    for (const std::size_t view : views) {
      findings.add(fmt::format("{}, one run, {} canaries", kViewNames[view], canaries), "one run",
                   bound_of_one_run(run.scores[view], run.present, subject.claim.delta, failure));
    }
  }
  report.findings = findings.take();
  return report;
}

}  // namespace ration::audit
