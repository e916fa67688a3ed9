// Stable: changes only with a new major version.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "ration/base/names.h"
#include "ration/objectives/glm/glm_loss.h"
#include "ration/schedules/kinds.h"

namespace ration {

// What a plan chooses between, where no other folder owns the choice.

// How a model is trained. Each has a recipe in src/train/recipes.
enum class MethodKind {
  automatic,
  dpsgd,
  sgd_adv,
  sgd_ma,
  dpadam,
  blsgd,
  blsgd_ac,
  blgd,
  agd,
  l2p,
  l2p_proj,
  objpert,
  outpert_gd,
  outpert_rsgd,
  bolton,
  privgene,
  majority,
  nonprivate,
};

// Their names.
inline constexpr NamedValue<MethodKind> kMethods[] = {
    {MethodKind::automatic, "auto",
     "Nothing to set: whitened rows and few Newton-like steps; dpsgd for networks."},
    {MethodKind::dpsgd, "dpsgd", "Gradient descent with clipped gradients and Gaussian noise."},
    {MethodKind::sgd_adv, "sgd-adv", "DP-SGD with advanced composition, as in [Bassily14]."},
    {MethodKind::sgd_ma, "sgd-ma", "DP-SGD with the moments accountant, as in [Abadi16]."},
    {MethodKind::dpadam, "dpadam", "DP-SGD with Adam steps."},
    {MethodKind::blsgd, "blsgd",
     "A private line search chooses each step size and the budget split [Chen20]."},
    {MethodKind::blsgd_ac, "blsgd-ac", "blsgd with clip bounds that fall during the run [Chen20]."},
    {MethodKind::blgd, "blgd", "blsgd on all rows, with the budget split of agd [Chen20]."},
    {MethodKind::agd, "agd", "A noisy minimum chooses each step size and the budget split [Lee18]."},
    {MethodKind::l2p, "l2p", "A learned optimiser chooses noise and steps; trained on public tasks [L2P]."},
    {MethodKind::l2p_proj, "l2p-proj", "l2p with constant noise: only the steps are learned [L2P]."},
    {MethodKind::objpert, "objpert", "Objective perturbation [Chaudhuri11, Kifer12]."},
    {MethodKind::outpert_gd, "outpert-gd", "Output perturbation after gradient descent [ZhangZMW17]."},
    {MethodKind::outpert_rsgd, "outpert-rsgd",
     "Output perturbation after passes over permuted rows, averaged [ChenLK19]."},
    {MethodKind::bolton, "bolton", "Output perturbation after passes over permuted rows [Wu17]."},
    {MethodKind::privgene, "privgene", "A genetic search with the exponential mechanism [ZhangXYZW13]."},
    {MethodKind::majority, "majority", "Always predicts the most frequent class, by a noisy count."},
    {MethodKind::nonprivate, "nonprivate", "NOT PRIVATE: the fit without noise, for comparison."},
};
// Found by base/names.h.
constexpr NameTable<MethodKind> name_table(MethodKind) {
  return {"method", kMethods};
}

// Whether a linear model is trained on rows less their noisy mean.
enum class Centering { yes, no };

// Their names.
inline constexpr NamedValue<Centering> kCenterings[] = {
    {Centering::yes, "yes", "Subtract a noisy mean of the rows first. Costs about 1 % of the budget."},
    {Centering::no, "no", "Train on the rows as they are."},
};
// Found by base/names.h.
constexpr NameTable<Centering> name_table(Centering) {
  return {"center", kCenterings};
}

// How a linear model sees numbers.
enum class Features { linear, hats };

// Their names.
inline constexpr NamedValue<Features> kFeatures[] = {
    {Features::linear, "linear", "Each number once, scaled."},
    {Features::hats, "hats", "Also hat functions at public knots: the model may bend between them."},
};
// Found by base/names.h.
constexpr NameTable<Features> name_table(Features) {
  return {"features", kFeatures};
}

// The noise of a line search.
enum class SearchNoise { laplace, gaussian };

// Their names.
inline constexpr NamedValue<SearchNoise> kSearchNoises[] = {
    {SearchNoise::laplace, "laplace", "Laplace noise."},
    {SearchNoise::gaussian, "gaussian", "Gaussian noise."},
};
// Found by base/names.h.
constexpr NameTable<SearchNoise> name_table(SearchNoise) {
  return {"search_noise", kSearchNoises};
}

// What is fitted: a linear model by its loss, one on the scattering transform of images ("scatter+softmax"),
// or a network ("mlp:32", objectives/network.h). Throws InputError if there is no such model, or no network
// because this program was built without them. "auto" leaves it to the schema (src/train/choose_model.h).
class ModelName {
 public:
  // "auto".
  ModelName() : kind_(Kind::open), name_(kAuto) {}
  // The linear model with this loss.
  ModelName(GlmLoss loss) : loss_(loss), name_(to_string(loss)) {}  // NOLINT
  // By its name.
  template <std::convertible_to<std::string_view> Text>
  ModelName(const Text& name) : ModelName("model", name) {}  // NOLINT
  // The same; the message begins with `where`.
  ModelName(std::string_view where, std::string_view name);

  // Not chosen yet; resolve() does.
  bool is_auto() const { return kind_ == Kind::open; }
  // "mlp:32" is one.
  bool is_network() const { return kind_ == Kind::network; }
  // "scatter+softmax" does.
  bool sees_scattering() const { return kind_ == Kind::scattered; }
  // Of a linear model; a network's is softmax. Throws InternalError for "auto".
  GlmLoss loss() const;
  // As it was given.
  const std::string& name() const { return name_; }

  // Without networks, whose names have sizes in them.
  static std::span<const NameAndHelp> choices();

  // The same model.
  bool operator==(const ModelName&) const = default;

 private:
  enum class Kind { open, linear, scattered, network };
  Kind kind_ = Kind::linear;
  GlmLoss loss_ = GlmLoss::logistic;
  std::string name_;
};

// One of the shapes, or a file of noise multipliers: what has a '.' or a '/' in it is a file.
class ScheduleName {
 public:
  // This shape.
  ScheduleName(ScheduleKind kind) : kind_(kind) {}  // NOLINT
  // A shape's name, or a path. InputError if it is neither.
  template <std::convertible_to<std::string_view> Text>
  ScheduleName(const Text& name) : ScheduleName("schedule", name) {}  // NOLINT
  // The same; the message begins with `where`.
  ScheduleName(std::string_view where, std::string_view name);
  // The file at this path.
  static ScheduleName of_file(std::string path);
  // Whether a name is one of a file.
  static bool is_path(std::string_view name) { return name.find_first_of("./") != std::string_view::npos; }

  // Or a shape.
  bool is_file() const { return !file_.empty(); }
  // Unless it is a file.
  ScheduleKind kind() const { return kind_; }
  // Empty if it is a shape.
  const std::string& file() const { return file_; }
  // The path or the shape's name.
  std::string name() const { return is_file() ? file_ : std::string(to_string(kind_)); }

  // The same shape or path.
  bool operator==(const ScheduleName&) const = default;

 private:
  ScheduleKind kind_ = ScheduleKind::uniform;
  std::string file_;
};

}  // namespace ration
