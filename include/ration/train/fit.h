// Stable: changes only with a new major version.
#pragma once

#include <memory>
#include <vector>

#include "ration/base/random.h"
#include "ration/data/table.h"
#include "ration/privacy/certificate.h"
#include "ration/train/model.h"
#include "ration/train/plan.h"
#include "ration/train/resolve.h"
#include "ration/train/run.h"

namespace ration {

class ReleaseObserver;  // oracle/release_observer.h
class Units;            // data/units.h

// A trained model and what it cost.
struct Fitted {
  Model model;              // can be applied, or written by to_json()
  Certificate certificate;  // what was promised
  ResolvedPlan plan;        // with every choice written out
};

// Trains on a table in memory by a plan and writes nothing: for programs that keep rows and results
// themselves. The plan's `data` and `schema` do not count; `schema` here describes the table. No ledger, no
// checkpoint: use train() of train/run.h for those. Throws like it.
Fitted fit(const Plan& plan, const data::Schema& schema, data::Table table, RandomSource& random);
// The same with SecureRandom.
Fitted fit(const Plan& plan, const data::Schema& schema, data::Table table);

// How a fit is carried out; none of it changes what is promised.
struct FitOptions {
  std::size_t threads = 0;              // 0: one per processor
  std::vector<Observer*> observers{};   // told of each step
  bool certificate = true;              // false: none is made, which saves accounting the events once more
  bool error_bars = true;               // false: Model::noise is left empty, which saves working it out
  std::size_t left_out = 0;             // rows that count and contribute nothing (data::Table)
  ReleaseObserver* releases = nullptr;  // told of each gradient that the fit was given
  // Which rows belong together; if and only if the plan protects a unit. None has more rows than it says.
  std::shared_ptr<const Units> units{};
};

// The same for who fits many models: the plan is resolved once, and rows may be shared by several threads.
Fitted fit(const ResolvedPlan& plan, const data::Schema& schema, std::shared_ptr<const Rows> rows,
           RandomSource& random, const FitOptions& options = {});

}  // namespace ration
