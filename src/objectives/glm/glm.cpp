#include "ration/objectives/glm/glm.h"

#include <array>

#include "objectives/glm/linear_objective.h"
#include "ration/objectives/glm/losses.h"

namespace ration {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"logistic", "softmax", "hinge", "huber", "squared"};

template <class Loss>
std::unique_ptr<Objective> linear(std::shared_ptr<const Rows> rows, Loss loss, const GlmOptions& options) {
  return std::make_unique<LinearObjective<Loss>>(std::move(rows), loss, options.threads);
}

SoftmaxLoss softmax(const GlmOptions& options) {
  require("softmax", "classes", static_cast<double>(options.classes), at_least(2).at_most(1e6));
  return SoftmaxLoss{.classes = options.classes};
}

HuberHingeLoss huber(const GlmOptions& options) {
  HuberHingeLoss loss;
  loss.h = require("huber", "huber_width", options.huber_width, greater_than(0));
  return loss;
}

}  // namespace

std::string_view to_string(GlmLoss loss) {
  return kNames[static_cast<std::size_t>(loss)];
}

GlmLoss glm_loss_named(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) return static_cast<GlmLoss>(found - kNames.begin());
  throw InputError(
      fmt::format("loss: expected one of logistic, softmax, hinge, huber, squared, got '{}'", name));
}

std::unique_ptr<Objective> make_glm(std::shared_ptr<const Rows> rows, const GlmOptions& options) {
  switch (options.loss) {
    case GlmLoss::logistic:
      return linear(std::move(rows), LogisticLoss{}, options);
    case GlmLoss::softmax:
      return linear(std::move(rows), softmax(options), options);
    case GlmLoss::hinge:
      return linear(std::move(rows), HingeLoss{}, options);
    case GlmLoss::huber:
      return linear(std::move(rows), huber(options), options);
    case GlmLoss::squared:
      return linear(std::move(rows), SquaredLoss{}, options);
  }
  throw InternalError("make_glm: no such loss");
}

}  // namespace ration
