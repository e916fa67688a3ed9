#include "train/run_certificate.h"

#include <fmt/format.h>

#include "base/check.h"
#include "methods/protector.h"

namespace ration {
namespace {

constexpr const char* kUnprotected =
    "the model was fitted to the rows without noise, as a baseline for other models; it may reveal any row "
    "and must not be released";

std::string describe(const Protector& protector) {
  const ProtectorOrigin& origin = protector.origin;
  std::string data = "it lists no data files";
  for (const std::string& hash : origin.data_hashes)
    data = (&hash == &origin.data_hashes.front() ? "data sha256 " : data + ", ") + hash;
  return fmt::format(
      "the protector with sha256 {}, made without these rows: trained on {} tasks, model {}, epsilon {}, "
      "delta {}; {}",
      sha256_of(protector), origin.tasks, origin.model, show(origin.epsilon), show(origin.delta), data);
}

std::vector<std::string> assumed_public(const ResolvedPlan& plan, const Training& training) {
  std::vector<std::string> list{"the schema: columns, bounds and categories"};
  if (plan.relation == Relation::replace_one) {
    list.push_back("the number of rows");
  } else {
    const TableSize table{.rows = 0, .declared_rows = training.divisor_rows()};
    if (!plan.count_noise)
      list.push_back(fmt::format("the number of rows, declared as {}", show(*plan.plan.rows)));
    list.push_back(fmt::format("that there are at most {} rows", table.most_rows()));
  }
  list.insert(list.end(), training.assumed().begin(), training.assumed().end());
  list.push_back("the plan: model, method and settings");
  if (plan.protector() != nullptr) list.push_back(describe(*plan.protector()));
  return list;
}

}  // namespace

void state(const Circumstances& circumstances, Certificate& certificate) {
  certificate.secure_random = circumstances.secure_random;
  certificate.ledger = circumstances.ledger;
  certificate.data_hash = circumstances.data_hash;
  std::vector<std::string>& list = certificate.not_covered;
  list.emplace_back("settings chosen by looking at these rows or at earlier results from them");
  if (!circumstances.data_hash.empty()) {
    list.emplace_back("the data hash: anyone who knows all rows but one can check a guess of that row");
  }
  if (!circumstances.ledger) {
    list.emplace_back(
        "other runs on these rows, and copies of this run resumed elsewhere: no ledger counts them");
  }
}

Certificate certify_training(const ResolvedPlan& plan, const Training& training,
                             const Circumstances& circumstances) {
  if (!plan.is_private()) {
    Certificate none = no_certificate(kUnprotected, plan.relation, plan.accountant, plan.budget.delta);
    none.data_hash = circumstances.data_hash;
    return none;
  }
  Certificate certificate =
      certify(training.released(), plan.relation, plan.accountant, plan.budget, plan.spending_by());
  certificate.assumed_public = assumed_public(plan, training);
  state(circumstances, certificate);
  if (training.facts().single_precision) {
    certificate.not_covered.emplace_back(
        "what rounding sums within a batch to 32 bits may add to a row's influence");
  }
  return certificate;
}

}  // namespace ration
