#pragma once

#include <vector>

#include "audit/bounds.h"
#include "audit/game.h"

namespace ration::audit {

// A point of a curve: how often a test catches the row, against how often it raises a false alarm.
struct RocPoint {
  double alarms = 0;
  double caught = 0;
};

// What the runs of a game say about epsilon.
struct Evidence {
  double epsilon = 0;           // of any mechanism, by Clopper-Pearson
  double mu = 0;                // of one that is mu-GDP
  std::vector<RocPoint> roc{};  // as seen, of the runs that judge; alarms fall
};

// "The score exceeds a cut" and its opposite, whichever cut and whichever world is the null hypothesis: the
// first half of the runs chooses, the second half judges, so that a bound exceeds the truth with probability
// at most `failure`, each by itself.
Evidence weigh(const Played& played, double delta, double failure);

// For outputs that are no scores: their order says nothing, or they are indices. The first quarter of the
// runs cuts the outputs into classes and ranks those by how much oftener one world gave them, which is the
// best test there is (Neyman-Pearson) as far as the quarter shows it; the others are then scores.
Played ranked_by_histogram(const Played& outputs);

}  // namespace ration::audit
