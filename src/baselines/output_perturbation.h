#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "methods/method.h"

namespace ration {

// The three ways to fit:
// gradient_descent  OutPert-GD [ZhangZMW17, Alg. 1]: steps of 1 / (smoothness + ridge), at most 200 of them.
// bolt_on           bolt-on PSGD [Wu17, Alg. 1]: 10 passes over permuted rows, in batches of 50 (the paper's
//                   settings).
// pass_averages     OutPert-RSGD [ChenLK19]: the same, every pass ending at the average of its iterates.
// Each step makes the fit better and its sensitivity larger. How far to go in all, the sum of the step sizes,
// follows from the rows, the parameters and the noise as in [ZhangZMW17], for the passes as well: a step of 1
// / sqrt(rows) [Wu17, Sec. 4] ends too early on tables of this size.
enum class OutputFit { gradient_descent, bolt_on, pass_averages };

struct OutputPerturbationOptions {
  OutputFit fit = OutputFit::gradient_descent;
  double noise_multiplier = 1;  // > 0
  double ridge = 0.001;         // >= 0; the papers' value
  double row_norm = 1;          // > 0; the rows' enforced bound
  // 0: as above.
  std::uint64_t steps = 0;   // of gradient_descent
  std::uint64_t passes = 0;  // of the others
  std::uint64_t batch = 50;  // of the others, >= 1
  double step_size = 0;      // at most 1 / (smoothness + ridge)
};

// Output perturbation: one fit to all rows, and Gaussian noise scaled to how far one row can move it. Smooth
// convex losses with bounded slopes only (logistic, softmax, huber); passes under replace_one only. What is
// not covered is refused by the oracle, before anything is spent, with the reason.
std::unique_ptr<Method> make_output_perturbation(const OutputPerturbationOptions& options,
                                                 std::size_t parameters);

// What it asks: every setting it leaves open is filled in from what is public.
OutputQuery output_perturbation_query(const OutputPerturbationOptions& options, const PublicFacts& facts,
                                      double rows, std::size_t parameters);

// The event of the whole run.
Event output_perturbation_event(double noise_multiplier);

}  // namespace ration
