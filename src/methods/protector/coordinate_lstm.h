#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "methods/protector/lanewise.h"

namespace ration::protector {

// Two LSTM layers and a linear output, one and the same for every coordinate. [Andrychowicz16, Sec. 2.1; L2P,
// App. B.7]
//
//   i, f, o = sigmoid(W z + b),  g = tanh(W z + b),  z = (x, h),  c = f c + i g,  h = o tanh(c)
//             in both layers,
//   y       = v h2 + b
//
// Layout      the parameters are one list: for each layer, unit by unit the bias and the weight of each z,
//             four numbers (i, f, o, g) each; then v and its bias. The state of a coordinate is h1, c1, h2,
//             c2.
// Speed       a block of coordinates goes through both layers while it is in the first cache, and no gate is
//             ever stored: going back computes them again from the states, which costs a third more and needs
//             a third of the memory.
struct LstmShape {
  std::size_t inputs = 1;
  std::size_t units = 20;  // at most 64

  std::size_t state() const { return 4 * units; }
  std::size_t first_layer() const { return 4 * units * (1 + inputs + units); }
  std::size_t second_layer() const { return 4 * units * (1 + 2 * units); }
  std::size_t parameters() const { return first_layer() + second_layer() + units + 1; }

  bool operator==(const LstmShape&) const = default;
};

// One step of every coordinate: the next state and the output (one feature). `next` must not be `state`.
template <class Number>
void lstm_forward(const LstmShape& shape, std::span<const Number> parameters, const Lanewise<Number>& inputs,
                  const Lanewise<Number>& state, Lanewise<Number>& next, Lanewise<Number>& output,
                  std::size_t threads = 1);

// The same step backwards. `d_state` holds the derivatives by the next state, and gets those by the state
// before; derivatives by the parameters are added to `d_parameters`. `d_inputs` may have no features: nobody
// asks for them.
template <class Number>
void lstm_backward(const LstmShape& shape, std::span<const Number> parameters, const Lanewise<Number>& inputs,
                   const Lanewise<Number>& state, const Lanewise<Number>& d_output, Lanewise<Number>& d_state,
                   Lanewise<Number>& d_inputs, std::span<Number> d_parameters, std::size_t threads = 1);

}  // namespace ration::protector
