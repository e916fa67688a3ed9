#pragma once

#include <string>
#include <vector>

#include "audit/audit.h"
#include "audit/game.h"
#include "ration/privacy/event.h"

namespace ration::audit {

// One mechanism, or one query through the oracle, on the worst neighbours that are known for it.
struct MechanismGame {
  std::string name;  // "gaussian", "oracle gradient"
  Event event;       // what it says it costs
  Relation relation = Relation::add_remove;
  Game game;  // its output is no score: only a histogram of it says something
};

// Every mechanism and every query of the oracle, with noise of this size, > 0: 1 is a noise multiplier of 1,
// or a pure epsilon of 1.
std::vector<MechanismGame> mechanism_games(double noise);

// The smallest epsilon at delta that an accountant certifies for it.
double certified_epsilon(const Event& event, Relation relation, double delta);

// Attacks each of them, `trials` times on each neighbour, and holds what is found against `claims`, one for
// each. The bounds hold together with the confidence, as those of audit_training.
Report audit_mechanisms(const std::vector<MechanismGame>& games, const std::vector<double>& claims,
                        double delta, const AuditOptions& options);
// The same with what the accountants certify.
Report audit_mechanisms(double noise, double delta, const AuditOptions& options);

}  // namespace ration::audit
