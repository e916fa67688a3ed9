#include "train/private_evaluation.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <utility>
#include <variant>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/hash.h"
#include "data/advice.h"
#include "data/content_hash.h"
#include "data/data_hash.h"
#include "data/named_data.h"
#include "oracle/noisy_scores.h"
#include "privacy/cautions.h"
#include "ration/base/error.h"
#include "ration/privacy/ledger.h"
#include "ration/train/plan.h"
#include "train/evaluation.h"
#include "train/keeper_note.h"
#include "train/run_certificate.h"

namespace ration {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles = {"certificate.json", "certificate.txt", "evaluation.json"};

// Counts of rows would protect a row.
void require_rows(const Model& model) {
  if (model.schema.unit.empty()) return;
  throw InputError(
      fmt::format("evaluate: the model protects each {}, but a private evaluation counts rows, one by one, "
                  "which would protect "
                  "a row; use public rows and --public",
                  model.schema.unit));
}

void require_classes(const Model& model) {
  if (model.classes > 0) return;
  throw InputError(fmt::format(
      "evaluate: label '{}' is a number; a private evaluation counts right classes, so use public "
      "rows and --public",
      model.schema.label));
}

void require_two_classes(const Model& model) {
  if (model.classes == 2) return;
  throw InputError(
      fmt::format("--scores: expected a model of two classes, got {}; leave it out for the accuracy alone",
                  model.classes));
}

// A class or a score for each row, and its label.
struct Said {
  std::vector<double> said;
  std::vector<double> labels;
};

// What is released: two counts, or a histogram of scores.
class Query {
 public:
  explicit Query(const PrivateEvaluationOptions& options) : query_(make(options)) {}

  Event event() const {
    return std::visit([](const auto& query) { return query.event(); }, query_);
  }
  double noise_scale() const {
    return std::visit([](const auto& query) { return query.noise_scale(); }, query_);
  }

  // What is asked of the rows. Those that were left out are rows: nothing is said of them, which is wrong.
  Said look(const Model& model, const std::string& data, data::OnBadRow on_bad_row) const {
    const data::Table table = data::read_table(data, model.schema, {.on_bad_row = on_bad_row});
    const auto labels = table.rows.labels();
    Said out{asks_for_scores() ? two_class_scores(model, table) : predict(model, table),
             {labels.begin(), labels.end()}};
    out.said.resize(out.said.size() + table.left_out, std::numeric_limits<double>::quiet_NaN());
    out.labels.resize(out.labels.size() + table.left_out, 0.0);
    return out;
  }

  void release(const Model& model, const Said& rows, RandomSource& random, PrivateEvaluation& result) const {
    if (const auto* const accuracy = std::get_if<NoisyAccuracyQuery>(&query_)) {
      result.found = accuracy->release(rows.said, rows.labels, random);
    } else {
      tell(model, std::get<NoisyScoresQuery>(query_).release(rows.said, rows.labels, random), result);
    }
  }

 private:
  using Either = std::variant<NoisyAccuracyQuery, NoisyScoresQuery>;

  static Either make(const PrivateEvaluationOptions& options) {
    if (options.scores) return NoisyScoresQuery(options.accuracy);
    return NoisyAccuracyQuery(options.accuracy);
  }
  bool asks_for_scores() const { return std::holds_alternative<NoisyScoresQuery>(query_); }

  // From here on rows are not looked at.
  void tell(const Model& model, std::vector<double> counts, PrivateEvaluation& result) const {
    const double stddev = std::numbers::sqrt2 * noise_scale();
    NoisyScores scores{.counts = std::move(counts)};
    scores.figures = figures_of(scores.counts, stddev, gives_probabilities(model));
    scores.thresholds = at_thresholds(scores.counts, stddev);
    if (gives_probabilities(model)) scores.calibration = calibrated_bins(scores.counts, stddev);
    result.found.rows = scores.figures.rows;
    if (const auto& accuracy = scores.figures.accuracy) {
      result.found.accuracy = accuracy->value;
      result.found.error = accuracy->error;
    }
    result.scores = std::move(scores);
  }

  Either query_;
};

// The right to spend, written down before a row is read.
class Charge {
 public:
  Charge(const std::string& data, const std::string& content_hash, const PrivateEvaluationOptions& options)
      : data_hash_(data::stated_data_hash(content_hash, nullptr, options.data_hash)) {
    if (options.ledger.empty()) return;
    Ledger ledger(options.ledger);
    Budget left{};
    auto granted = ledger.reserve({.data_hash = content_hash,
                                   .relation = options.accuracy.relation,
                                   .budget = {options.accuracy.epsilon, 0},
                                   .what = options.scores ? "evaluate: scores of a saved model"
                                                          : "evaluate: accuracy of a saved model"},
                                  &left);
    if (!granted) {
      throw BudgetRefused(fmt::format("{}: evaluating on {} needs epsilon {}, but only {} is left",
                                      options.ledger, data, show(options.accuracy.epsilon),
                                      show_rounded_down(left.epsilon)));
    }
    reservation_.emplace(std::move(*granted));
    remaining_ = left;
    entry_ = {.file = options.ledger, .run = reservation_->run(), .reserved = reservation_->budget()};
    data_hash_ = data::stated_data_hash(content_hash, &ledger, options.data_hash);
  }

  // Nothing was released.
  void give_back() {
    if (reservation_) reservation_->settle({0, 0}, SpendingBy::plan);
  }
  // Fixed before the rows were seen, and spent whole.
  void settle() {
    if (reservation_) reservation_->settle(reservation_->budget(), SpendingBy::plan);
  }

  const std::optional<Budget>& remaining() const { return remaining_; }
  const std::optional<LedgerEntry>& entry() const { return entry_; }
  // For the certificate.
  const std::string& data_hash() const { return data_hash_; }

 private:
  std::optional<Reservation> reservation_;
  std::optional<Budget> remaining_;
  std::optional<LedgerEntry> entry_;
  std::string data_hash_;
};

// Where the files go; made before anything is charged, so that a bad place costs nothing.
class EvaluationFolder {
 public:
  explicit EvaluationFolder(const PrivateEvaluationOptions& options) {
    if (!options.out.empty()) use(options.out);
    if (!options.out.empty() || options.run.empty()) return;
    for (int number = 1; !made_; ++number) use(fs::path(options.run) / fmt::format("evaluation-{}", number));
  }
  EvaluationFolder(const EvaluationFolder&) = delete;
  EvaluationFolder& operator=(const EvaluationFolder&) = delete;
  ~EvaluationFolder() {
    std::error_code ignored;
    if (made_) fs::remove(path_, ignored);  // if it is still empty
  }

  // The certificate, which names the figures by their hash, first, so that no figure is ever without one.
  void write(const Model& model, PrivateEvaluation& result) const {
    if (path_.empty()) return;
    const std::string figures = to_json(model, result);
    result.certificate.files = {{kFiles[2], sha256(figures)}};
    write_file_atomically((path_ / kFiles[0]).string(), ration::to_json(result.certificate));
    write_file_atomically((path_ / kFiles[1]).string(), to_text(result.certificate));
    write_file_atomically((path_ / kFiles[2]).string(), figures);
  }

  std::string path() const { return path_.string(); }

 private:
  static std::string to_json(const Model& model, const PrivateEvaluation& result) {
    nlohmann::ordered_json json = figures_to_json(model, result);
    json["epsilon"] = result.certificate.epsilon;
    json["delta"] = result.certificate.delta;
    json["relation"] = to_string(result.certificate.relation);
    return json.dump(2) + "\n";
  }

  void use(const fs::path& path) {
    path_ = path;
    std::error_code error;
    made_ = fs::create_directories(path, error);
    if (error)
      throw InputError(fmt::format("{}: cannot make this folder: {}; choose one by --out", path.string(),
                                   error.message()));
  }

  fs::path path_;
  bool made_ = false;
};

// Of a folder that the user chose.
void require_free(const std::string& folder) {
  for (const char* const name : kFiles) {
    if (const fs::path path = fs::path(folder) / name; !folder.empty() && fs::exists(path))
      throw InputError(fmt::format("{}: would be overwritten; choose another folder", path.string()));
  }
}

Certificate certify_evaluation(const Query& query, const NoisyAccuracyOptions& options,
                               data::OnBadRow on_bad_row, const Circumstances& circumstances) {
  Certificate out =
      certify(query.event(), options.relation, Accountant::rdp, {options.epsilon, 0}, SpendingBy::plan);
  out.assumed_public = {"columns, bounds and categories, from the model's schema"};
  out.assumed_public.emplace_back(assumed_of_rows(on_bad_row));
  if (options.relation == Relation::replace_one) out.assumed_public.emplace_back("the number of rows");
  out.assumed_public.emplace_back(
      "the model: it was made without these rows, or what it says of them is certified elsewhere");
  state(circumstances, out);
  out.not_covered.emplace_back(
      "what collisions among the cipher's blocks may add to delta: nothing of delta 0 is kept for it");
  out.cautions = cautions_for({out.epsilon, out.delta}, std::nullopt);
  return out;
}

// What the run declared, if it was trained on these very rows and has declared anything.
std::optional<double> declared_rows(const fs::path& run, const Certificate& evaluation) {
  if (evaluation.data_hash.empty() || !fs::exists(run / "plan.toml") || !fs::exists(run / kFiles[0]))
    return std::nullopt;
  try {
    const Certificate trained = certificate_from_json(read_file((run / kFiles[0]).string()));
    if (trained.data_hash != evaluation.data_hash) return std::nullopt;
    return read_plan((run / "plan.toml").string()).rows;
  } catch (const InputError&) {
    return std::nullopt;  // of a folder that was changed: for `ration verify` to tell
  }
}

// The count is released already, and the declaration public.
void compare_rows(const std::string& run, PrivateEvaluation& result) {
  const std::optional<double> declared = run.empty() ? std::nullopt : declared_rows(run, result.certificate);
  if (!declared) return;
  const std::string caution = caution_on_declared_rows(*declared, result.found.rows, result.noise_scale);
  if (!caution.empty()) result.certificate.cautions.push_back(caution);
}

void add_figure(const std::string& key, const std::optional<NoisyFigure>& figure,
                nlohmann::ordered_json& json) {
  json[key] = figure ? nlohmann::ordered_json(figure->value) : nullptr;
  json[key + "_error"] = figure ? nlohmann::ordered_json(figure->error) : nullptr;
}

// The counts of the cells, by the names of the classes, and what follows from them.
void add_scores(const Model& model, const NoisyScores& scores, nlohmann::ordered_json& json) {
  const std::vector<std::string> classes = model.schema.class_names();
  add_figure("balanced_accuracy", scores.figures.balanced_accuracy, json);
  add_figure("auc", scores.figures.auc, json);
  json["auc_within"] = scores.figures.auc_within;
  add_figure("log_loss", scores.figures.log_loss, json);
  add_figure("brier", scores.figures.brier, json);
  for (const char* const list : {"histogram", "thresholds", "calibration"})
    json[list] = nlohmann::ordered_json::array();
  for (std::size_t bin = 0; bin < ScoreHistogram::kBins; ++bin) {
    nlohmann::ordered_json counts = nlohmann::ordered_json::object();
    for (std::size_t k = 0; k < classes.size(); ++k)
      counts[classes[k]] = scores.counts[k * ScoreHistogram::kBins + bin];
    json["histogram"].push_back(
        {{"from", ScoreHistogram::from(bin)}, {"to", ScoreHistogram::to(bin)}, {"counts", counts}});
  }
  json["without_score"] = scores.counts.back();
  for (const AtThreshold& at : scores.thresholds) {
    json["thresholds"].push_back({{"threshold", at.threshold},
                                  {"recall", at.recall.value},
                                  {"recall_error", at.recall.error},
                                  {"false_positive_rate", at.false_positives.value},
                                  {"false_positive_rate_error", at.false_positives.error}});
  }
  for (const CalibratedBin& bin : scores.calibration) {
    json["calibration"].push_back({{"from", bin.from},
                                   {"to", bin.to},
                                   {"rows", bin.rows},
                                   {"was", bin.was.value},
                                   {"was_error", bin.was.error}});
  }
}

}  // namespace

nlohmann::ordered_json figures_to_json(const Model& model, const PrivateEvaluation& result) {
  nlohmann::ordered_json json{
      {"accuracy", nullptr}, {"rows", result.found.rows}, {"noise_scale", result.noise_scale}};
  if (result.found.accuracy) {
    json["accuracy"] = *result.found.accuracy;
    json["accuracy_error"] = result.found.error;
  } else {
    json["accuracy_error"] = nullptr;
  }
  if (result.scores) add_scores(model, *result.scores, json);
  return json;
}

PrivateEvaluation evaluate_privately(const Model& model, const std::string& data,
                                     const PrivateEvaluationOptions& options, RandomSource& random) {
  const Query query(options);
  require_rows(model);
  require_classes(model);
  if (options.scores) require_two_classes(model);
  if (!options.ledger.empty() && !random.is_secure())
    throw InputError("NOT PRIVATE: seeded noise; an evaluation with a seed may not be written into a ledger");
  const std::string content_hash = data::content_hash(data::files_of(data));
  require_free(options.out);
  const EvaluationFolder folder(options);
  Charge charge(data, content_hash, options);
  // Before the rows are read: what cannot be certified is not released.
  PrivateEvaluation result{
      .found = {},
      .scores = {},
      .noise_scale = query.noise_scale(),
      .certificate = certify_evaluation(query, options.accuracy, options.on_bad_row,
                                        {charge.data_hash(), random.is_secure(), charge.entry()}),
      .remaining = charge.remaining(),
      .folder = folder.path()};
  result.certificate.data = data::name_without_folder(data);
  result.certificate.model = model.network.empty() ? std::string(to_string(model.loss)) : model.network;
  Said rows;
  try {
    rows = query.look(model, data, options.on_bad_row);
  } catch (const data::PublicFault&) {
    charge.give_back();
    throw;
  } catch (const InputError& error) {
    throw data::BadRows(for_the_keeper(data::without_advice(error), charge.entry(), Mend::rows));
  }
  query.release(model, rows, random, result);
  compare_rows(options.run, result);
  folder.write(model, result);
  charge.settle();
  return result;
}

}  // namespace ration
