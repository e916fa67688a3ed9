#include "ration/objectives/glm/glm.h"

#include "objectives/glm/linear_objective.h"
#include "objectives/glm/losses.h"
#include "objectives/glm/seen_objective.h"
#include "objectives/glm/unit_objective.h"

namespace ration {
namespace {

SoftmaxLoss softmax(const GlmOptions& options) {
  require("softmax", "classes", static_cast<double>(options.classes), at_least(2).at_most(1e6));
  return SoftmaxLoss{.classes = options.classes};
}

HuberHingeLoss huber(const GlmOptions& options) {
  HuberHingeLoss loss;
  loss.h = require("huber", "huber_width", options.huber_width, greater_than(0));
  return loss;
}

// use(the loss, with its parameters).
template <class Use>
auto with_loss(const GlmOptions& options, const Use& use) {
  switch (options.loss) {
    case GlmLoss::logistic:
      return use(LogisticLoss{});
    case GlmLoss::softmax:
      return use(softmax(options));
    case GlmLoss::hinge:
      return use(HingeLoss{});
    case GlmLoss::huber:
      return use(huber(options));
    case GlmLoss::squared:
      return use(SquaredLoss{});
  }
  throw InternalError("linear model: no such loss");
}

}  // namespace

std::unique_ptr<Objective> make_glm(std::shared_ptr<const Rows> rows, const GlmOptions& options) {
  return with_loss(options, [&]<class Loss>(Loss loss) -> std::unique_ptr<Objective> {
    if (options.units)
      return std::make_unique<UnitObjective<Loss>>(std::move(rows), options.units, nullptr, loss,
                                                   options.threads);
    return std::make_unique<LinearObjective<Loss>>(std::move(rows), loss, options.threads);
  });
}

void predict_glm(const Rows& rows, const GlmOptions& options, std::span<const double> weights,
                 std::span<double> predictions) {
  const std::shared_ptr<const Rows> borrowed(std::shared_ptr<void>(), &rows);
  with_loss(options, [&]<class Loss>(Loss loss) {
    using Linear = LinearObjective<Loss>;
    Linear(borrowed, loss, options.threads, Linear::Labels::unused).predict(weights, predictions);
  });
}

void outputs_glm(const Rows& rows, const GlmOptions& options, std::span<const double> weights,
                 std::span<double> outputs) {
  const std::shared_ptr<const Rows> borrowed(std::shared_ptr<void>(), &rows);
  with_loss(options, [&]<class Loss>(Loss loss) {
    using Linear = LinearObjective<Loss>;
    Linear(borrowed, loss, options.threads, Linear::Labels::unused).outputs(weights, outputs);
  });
}

}  // namespace ration
