#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "methods/method.h"
#include "ration/base/names.h"
#include "ration/clipping/any_clip_rule.h"
#include "ration/privacy/accountant.h"
#include "ration/privacy/calibrate.h"
#include "ration/sampling/sampler.h"

namespace ration {

// Where the scheduler learns how long the gradient is.
enum class NormSource {
  released,  // a noisy squared norm on a batch of its own, paid for in every step [L2P, Alg. 2]; needs
             // batches of a public size
  previous,  // the gradient of the step before, which is public by then: free, one step late
};

inline constexpr NamedValue<NormSource> kNormSources[] = {
    {NormSource::released, "released", "A noisy norm of the current gradient, paid for in every step."},
    {NormSource::previous, "previous", "The norm of the previous step's noisy gradient. Free."},
};
constexpr NameTable<NormSource> name_table(NormSource) {
  return {"norm", kNormSources};
}

// What a protector was trained for, and on what: for people, and for the check that it is independent of the
// rows it protects.
struct ProtectorOrigin {
  std::string tasks;                     // the family: quadratic, table or images
  std::string model;                     // the loss or network it was trained to fit
  double epsilon = 0, delta = 0;         // the budget
  std::int64_t steps = 1;                // that the budget lasts for with even noise
  double rate = 1;                       // in (0, 1]; the share of the rows that a step saw
  double clip_bound = 1;                 // > 0; of the gradients it practised with
  std::int64_t epochs = 0;               // of meta-training
  double validation_loss = 0;            // when the budget of the validation tasks was used up
  double untrained_loss = 0;             // of the same tasks where they begin
  std::vector<std::string> data_hashes;  // content hashes of every file it has seen (data/content_hash.h)
  std::string version;                   // of the program that made it

  bool operator==(const ProtectorOrigin&) const = default;
};

// A learned optimiser: two coordinate-wise LSTMs of two layers. [L2P, Sec. 4.1, App. B.7]
//
//   scheduler   s = least + 2 (even - least) sigmoid(LSTM(norm of the mean gradient / clip bound)): the
//               step's noise multiplier
//   projector   w += scale LSTM(asinh(g / stddev of its noise), g / clip bound), coordinate by coordinate, g
//               the noisy mean gradient
//
// The paper's projector sees g alone; seen in units of its noise too, it means the same at other budgets and
// table sizes.
struct Protector {
  static constexpr std::size_t kSchedulerInputs = 1;
  static constexpr std::size_t kProjectorInputs = 2;

  ProtectorOrigin origin{};
  std::size_t units = 20;
  double output_scale = 1;  // > 0
  NormSource norm = NormSource::previous;
  double norm_noise_ratio = 1;     // > 0; a released norm's noise multiplier over the even one
  std::vector<float> scheduler{};  // empty: even noise, which is L2P-Proj
  std::vector<float> projector{};

  bool operator==(const Protector&) const = default;
};

// Throws InputError, after `where`, unless the numbers are finite and as many as the LSTMs need.
void require_sound(const Protector& protector, std::string_view where);
// Throws InputError if the protector has seen the data: the guarantee needs both to be independent. [L2P,
// Thm 4.1]
void require_independent(const Protector& protector, std::string_view data_hash);

// A protector as a file: JSON that ends with the SHA-256 of everything before. Reading throws InputError that
// names the file and what is wrong: not JSON, another format or version, damaged, or not sound.
std::string to_json(const Protector& protector);
std::string sha256_of(const Protector& protector);  // the one its file states
Protector protector_from_json(std::string_view text, const std::string& where);
Protector read_protector(const std::string& path);

struct ProtectedDescentOptions {
  std::shared_ptr<const Protector> protector;
  AnyClipRule clip = Abadi{1};
  double noise = 1;             // > 0; the even noise multiplier
  double least_noise = 1;       // in (0, noise]; one step with it may take the whole budget
  double floor = 0;             // in [0, least_noise]; of a last step that takes what is left; 0: least_noise
  std::vector<double> start{};  // where it begins, one number per parameter; empty: at zero
};

// Gradient descent by a protector. [L2P, Alg. 1, 2]
//
// Guarantee   all it knows of the rows are the oracle's answers; the protector was made without them. The
//             scheduled noise depends on what was released before, which the budget's filter allows. The
//             paper draws norm and gradient from one subset and amplifies each; here each has a subset of its
//             own, at the same price.
// Sensitivity of a released norm is (4m - 3) C^2 for m rows under replace_one: the oracle's. [privacy rules
//             1; L2P, Lemma A.3 has the figure for add_remove]
// Ends        when the cheapest step, one with noise 2 noise - least_noise (3/2 noise without a scheduler),
//             does not fit. The step before that takes what is left, so that the whole budget is spent.
// InputError if the weights overflow.
std::unique_ptr<Method> make_protected_descent(const ProtectedDescentOptions& options,
                                               std::size_t parameters);

struct NoiseRange {
  double even;   // with it in every step, the budget lasts for the steps that are expected
  double least;  // a scheduler's steps have no less: one takes the whole budget, or as much as the
                 // accountant's theorem allows
  double floor;  // no step may have less
};
// What a budget is worth for steps on the sampler's batches. [L2P, Alg. 3] InputError if the accountant has
// no theorem for them; of tcdp it names the condition that even noise violates, its value and its bound.
NoiseRange protector_noise(const Protector& protector, const Sampler& sampler, Accountant accountant,
                           const Budget& budget, std::int64_t steps);

// The share of the rows that [L2P, Alg. 3] begins with, for the accountant tcdp: (sqrt(n) + 10) / n or, if
// that violates a condition, the smallest that does not. InputError naming the condition that none satisfies.
double protector_rate(const Protector& protector, const Budget& budget, std::int64_t steps,
                      std::int64_t rows);

// One even step as it is charged, before sampling: what is released on each of its batches.
std::vector<Event> protected_step_events(const Protector& protector, double noise);

}  // namespace ration
