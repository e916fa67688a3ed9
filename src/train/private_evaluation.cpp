#include "train/private_evaluation.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/hash.h"
#include "data/advice.h"
#include "data/content_hash.h"
#include "data/data_hash.h"
#include "data/named_data.h"
#include "privacy/cautions.h"
#include "ration/base/error.h"
#include "ration/privacy/ledger.h"
#include "ration/train/plan.h"
#include "train/keeper_note.h"
#include "train/run_certificate.h"

namespace ration {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles = {"certificate.json", "certificate.txt", "evaluation.json"};

void require_classes(const Model& model) {
  if (model.classes > 0) return;
  throw InputError(fmt::format(
      "evaluate: label '{}' is a number; a private evaluation counts right classes, so use public "
      "rows and --public",
      model.schema.label));
}

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
                                   .what = "evaluate: accuracy of a saved model"},
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
  void write(PrivateEvaluation& result) const {
    if (path_.empty()) return;
    const std::string figures = to_json(result);
    result.certificate.files = {{kFiles[2], sha256(figures)}};
    write_file_atomically((path_ / kFiles[0]).string(), ration::to_json(result.certificate));
    write_file_atomically((path_ / kFiles[1]).string(), to_text(result.certificate));
    write_file_atomically((path_ / kFiles[2]).string(), figures);
  }

  std::string path() const { return path_.string(); }

 private:
  static std::string to_json(const PrivateEvaluation& result) {
    nlohmann::ordered_json json{{"accuracy", nullptr},
                                {"rows", result.found.rows},
                                {"noise_scale", result.noise_scale},
                                {"epsilon", result.certificate.epsilon},
                                {"delta", result.certificate.delta},
                                {"relation", to_string(result.certificate.relation)}};
    if (result.found.accuracy) json["accuracy"] = *result.found.accuracy;
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

struct Counted {
  std::vector<double> predictions;
  std::vector<double> labels;
};

Counted read_and_predict(const Model& model, const std::string& data, data::OnBadRow on_bad_row) {
  const data::Table table = data::read_table(data, model.schema, {.on_bad_row = on_bad_row});
  const auto labels = table.rows.labels();
  Counted out{predict(model, table), {labels.begin(), labels.end()}};
  // Rows that were left out are rows: nothing is predicted for them, which is wrong.
  out.predictions.resize(out.predictions.size() + table.left_out, std::numeric_limits<double>::quiet_NaN());
  out.labels.resize(out.labels.size() + table.left_out, 0.0);
  return out;
}

Certificate certify_evaluation(const NoisyAccuracyQuery& query, const NoisyAccuracyOptions& options,
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

}  // namespace

PrivateEvaluation evaluate_privately(const Model& model, const std::string& data,
                                     const PrivateEvaluationOptions& options, RandomSource& random) {
  const NoisyAccuracyQuery query(options.accuracy);
  require_classes(model);
  if (!options.ledger.empty() && !random.is_secure())
    throw InputError("NOT PRIVATE: seeded noise; an evaluation with a seed may not be written into a ledger");
  const std::string content_hash = data::content_hash(data::files_of(data));
  require_free(options.out);
  const EvaluationFolder folder(options);
  Charge charge(data, content_hash, options);
  // Before the rows are read: what cannot be certified is not released.
  PrivateEvaluation result{
      .found = {},
      .noise_scale = query.noise_scale(),
      .certificate = certify_evaluation(query, options.accuracy, options.on_bad_row,
                                        {charge.data_hash(), random.is_secure(), charge.entry()}),
      .remaining = charge.remaining(),
      .folder = folder.path()};
  result.certificate.data = data::name_without_folder(data);
  result.certificate.model = model.network.empty() ? std::string(to_string(model.loss)) : model.network;
  Counted counted;
  try {
    counted = read_and_predict(model, data, options.on_bad_row);
  } catch (const data::PublicFault&) {
    charge.give_back();
    throw;
  } catch (const InputError& error) {
    throw data::BadRows(for_the_keeper(data::without_advice(error), charge.entry(), Mend::rows));
  }
  result.found = query.release(counted.predictions, counted.labels, random);
  compare_rows(options.run, result);
  folder.write(result);
  charge.settle();
  return result;
}

}  // namespace ration
