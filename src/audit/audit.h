#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "audit/canaries.h"
#include "audit/evidence.h"
#include "ration/base/names.h"
#include "ration/privacy/relation.h"
#include "ration/train/plan.h"
#include "ration/train/resolve.h"

namespace ration::audit {

// What is promised, and audited.
struct Claim {
  double epsilon = 0;
  double delta = 0;
  Relation relation = Relation::add_remove;
  // All of it is one Gaussian mechanism, or several on all rows: then a bound on mu is one on epsilon.
  bool is_gaussian = false;
};

// What the attacker sees of a run.
enum class View { white_box, black_box, both };

inline constexpr NamedValue<View> kViews[] = {
    {View::white_box, "white-box", "Every noisy gradient of a run, and the weights it was asked at."},
    {View::black_box, "black-box", "The model alone."},
    {View::both, "both", "One after the other."},
};
constexpr NameTable<View> name_table(View) {
  return {"view", kViews};
}

struct AuditOptions {
  std::size_t trials = 5000;  // >= 100; runs on each of two neighbours
  double confidence = 0.95;   // in (0, 1): that no bound of a report is above the truth
  View view = View::both;
  std::size_t canaries = 500;  // of the single run; 0: there is none
  std::size_t threads = 0;     // 0: one per processor
  // Told how many of all runs are done; false: stop, which throws Stopped.
  std::function<bool(std::size_t done, std::size_t total)> on_progress{};
};

// What one attack proves.
struct Finding {
  std::string attack;   // "white box, 5000 runs on each of two neighbours"
  std::string theorem;  // "Clopper-Pearson"
  double claim = 0;     // epsilon at delta
  double bound = 0;     // epsilon is at least this
  // That this bound is not above the truth, by itself; together they have the report's.
  double confidence = 0;
  bool counts = true;  // false: holds only for mechanisms of another kind, and is shown for comparison

  bool contradicts() const { return counts && bound > claim; }
};

// How well an attack tells two neighbours apart.
struct Curve {
  std::string label;
  std::vector<RocPoint> points;
};

struct Report {
  std::string subject;  // what was audited, in a few words
  Claim claim;
  double confidence = 0;  // that no bound that counts is above the truth
  std::vector<Finding> findings{};
  std::vector<Curve> curves{};

  bool contradicts() const;
};

// A plan and two tables that it is to be run on.
struct Subject {
  ResolvedPlan plan;
  Claim claim;
  Neighbours neighbours;
  bool made_up = true;  // the tables
};

// The plan as it would be run, on tables made up for it: its data, schema, target and ledger do not count.
// If it does not say how many rows there are, the audit does. InputError if no made-up table fits the model,
// as of images.
Subject worst_case_subject(Plan plan);
// On the rows of plan.data, which are read. The result says something about these rows: not private.
Subject subject_in_data(Plan plan);

// Attacks the plan: many runs on the two neighbours, and on made-up tables one run with many canaries.
//
// Guarantee   with probability `confidence` none of the bounds that count is above the true epsilon at the
//             claim's delta; each has an equal part of what is left (Bonferroni). So a report contradicts a
//             claim that is true with probability at most 1 - confidence. A report that does not contradict
//             proves no privacy.
// Many runs   audit/evidence.h. Runs are independent, the noise is that of a real run.
// One run     each canary by a fair coin; guesses are ventured on those with the largest and smallest scores,
//             for several numbers of guesses, each with an equal part of the failure. [Steinke23]
Report audit_training(const Subject& subject, const AuditOptions& options);

}  // namespace ration::audit
