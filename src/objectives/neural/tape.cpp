#include "ration/objectives/neural/tape.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <utility>

#include "ration/base/error.h"

namespace ration::nn {
namespace {

thread_local Tape* current_tape = nullptr;

using Use = std::function<void(const torch::Tensor&)>;

struct UseHolder : torch::CustomClassHolder {
  explicit UseHolder(Use given) : use(std::move(given)) {}
  Use use;
};

// The output of a layer whose input nobody differentiates: the backward pass would not come by, were it not
// for the anchor, which asks for a gradient and never gets one.
struct FirstLayer : torch::autograd::Function<FirstLayer> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& /*anchor*/,
                               const std::function<torch::Tensor()>& compute, Use use) {
    context->saved_data["use"] = torch::IValue::make_capsule(c10::make_intrusive<UseHolder>(std::move(use)));
    return compute();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto holder = context->saved_data["use"].toCapsule();
    std::exchange(static_cast<UseHolder&>(*holder).use, nullptr)(gradients[0]);
    return {torch::Tensor(), torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

// Shapes alone, which say nothing about what a row holds.
void require_rows(const torch::Tensor& tensor, std::int64_t rows, std::int64_t least_dimensions) {
  if (tensor.dim() >= least_dimensions && tensor.size(0) == rows) return;
  throw InputError(fmt::format(
      "network: the first dimension of what a layer sees is not the row, so that no row's influence "
      "is bounded: expected {} rows in at least {} dimensions, got {}",
      rows, least_dimensions, fmt::join(tensor.sizes().vec(), " x ")));
}

Tape::Tape(std::int64_t rows, std::int64_t most_kept, Kernels kernels)
    : outer_(std::exchange(current_tape, this)), rows_(rows), room_(most_kept), kernels_(kernels) {}

Tape::~Tape() {
  current_tape = outer_;
}

Tape* Tape::current() {
  return current_tape;
}

bool Tape::may_keep(std::int64_t numbers) {
  if (numbers > room_) return false;
  room_ -= numbers;
  return true;
}

torch::Tensor watched(const std::function<torch::Tensor()>& compute, bool input_has_gradient, Use use) {
  if (!input_has_gradient) {
    const torch::Tensor anchor = torch::empty({0}, torch::requires_grad());
    return FirstLayer::apply(anchor, compute, std::move(use));
  }
  torch::Tensor y = compute();
  y.register_hook([holder = std::make_shared<Use>(std::move(use))](const torch::Tensor& gradient) {
    std::exchange(*holder, nullptr)(gradient);
  });
  return y;
}

std::int64_t Unchanged::version_of(const torch::Tensor& tensor) {
  return tensor.is_inference() ? 0 : static_cast<std::int64_t>(tensor._version());
}

const torch::Tensor& Unchanged::get() const {
  if (version_of(tensor_) != version_) {
    throw InputError(
        "network: the input of a layer was modified in place after the layer used it; write x = x + y in "
        "place of "
        "x += y");
  }
  return tensor_;
}

}  // namespace ration::nn
