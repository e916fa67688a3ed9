#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flags/cli11.h"
#include "flags/step_plan_flags.h"
#include "ration/privacy/calibrate.h"
#include "ration/train/plan.h"
#include "schedules/influence.h"
#include "schedules/scale.h"
#include "schedules/step_count.h"

namespace ration::cli {

// What `ration schedule` finds out.
struct ScheduleAnswer {
  std::string shape;  // as it was asked for
  StepPlan plan;      // with the noise of every step
  Budget budget{};
  ScaledNoise scaled;
  double uniform_noise = 1;  // of the uniform schedule within the same budget
  Guarantee cost;
  double cost_rho = 0;  // sum of 1 / (2 s^2); the rho of a full-batch run
  RiskConstants risk;   // alpha for the uniform schedule's budget
  std::string gamma_from, alpha_from;
  double bound = 0;  // on the final error over the first, with this schedule and with the uniform one
  double uniform_bound = 0;
  std::vector<double> influence;     // if it was estimated
  std::string read_without_privacy;  // the file it was estimated on
  double seconds = 0;
};

// The flags of `ration schedule`: sampling and budget as `calibrate` has them, the shape and its numbers by
// the names they have in a plan, and, for an estimate, the part of a plan that decides a run.
class ScheduleFlags {
 public:
  // The object must outlive the command.
  void add_to(CLI::App& command);
  ScheduleAnswer solve() const;

 private:
  struct KeyFlag {
    const PlanKey* key;
    std::optional<std::string> value;
  };

  Plan read_plan_keys() const;
  std::vector<double> shape_of(const Plan& plan, const StepPlan& steps, const Budget& budget,
                               Accountant accountant, ScheduleAnswer& answer) const;
  std::vector<double> estimated_shape(Plan plan, const StepPlan& steps, const Budget& budget,
                                      Accountant accountant, ScheduleAnswer& answer) const;
  RiskConstants read_risk(const Plan& plan, const StepPlan& steps, double uniform_budget,
                          ScheduleAnswer& answer) const;
  bool is_estimated() const { return shape_ && *shape_ == "influence:estimated"; }
  bool is_given(const std::string& key) const;

  StepPlanFlags steps_;
  std::optional<std::string> shape_, epsilon_, delta_, accountant_, plan_file_;
  std::optional<std::string> estimate_, fit_, runs_;
  std::optional<std::string> alpha_, parameters_, gradient_bound_, smoothness_, initial_error_;
  std::vector<KeyFlag> keys_;
};

}  // namespace ration::cli
