#include "methods/protector/coordinate_lstm.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/parallel.h"
#include "base/per_processor.h"
#include "ration/base/error.h"

namespace ration::protector {
namespace {

constexpr std::size_t kMostUnits = 64;
constexpr std::size_t kMostInputs = 8;
constexpr std::size_t kMostZ = 2 * kMostUnits;
constexpr std::size_t kGates = 4;
enum Gate : std::size_t { input, forget, output, candidate };

using FloatLanes [[gnu::vector_size(kLanes * sizeof(float)), gnu::may_alias, gnu::aligned(sizeof(float))]] =
    float;
using DoubleLanes
    [[gnu::vector_size(kLanes * sizeof(double)), gnu::may_alias, gnu::aligned(sizeof(double))]] = double;

template <class Number>
struct Kind;

template <>
struct Kind<float> {
  using Lanes = FloatLanes;
  using Bits [[gnu::vector_size(kLanes * sizeof(float)), gnu::may_alias]] = std::uint32_t;
  static constexpr float kRound = 0x1.8p23f;
  static constexpr std::uint32_t kBias = 127, kMantissa = 23;
  static constexpr float kMost = 80;  // e^80 is finite
  static constexpr int kTerms = 6;
};

template <>
struct Kind<double> {
  using Lanes = DoubleLanes;
  using Bits [[gnu::vector_size(kLanes * sizeof(double)), gnu::may_alias]] = std::uint64_t;
  static constexpr double kRound = 0x1.8p52;
  static constexpr std::uint64_t kBias = 1023, kMantissa = 52;
  static constexpr double kMost = 300;
  static constexpr int kTerms = 13;
};

template <class Number>
using Lanes = typename Kind<Number>::Lanes;

template <class Number>
RATION_INLINE const Lanes<Number>& at(const Number* values) {
  return *reinterpret_cast<const Lanes<Number>*>(values);
}
template <class Number>
RATION_INLINE Lanes<Number>& at(Number* values) {
  return *reinterpret_cast<Lanes<Number>*>(values);
}

// e^x for |x| <= kMost: 2^k e^r with |r| <= ln(2)/2, e^r by its Taylor polynomial.
template <class Number>
RATION_INLINE Lanes<Number> exponential(Lanes<Number> x) {
  using K = Kind<Number>;
  constexpr auto kLog2OfE = static_cast<Number>(1.4426950408889634);
  constexpr auto kLn2High = static_cast<Number>(0.693145751953125);  // few bits: its product with k is exact
  constexpr auto kLn2Low = static_cast<Number>(1.42860682030941723212e-6);
  const Lanes<Number> shifted = x * kLog2OfE + K::kRound;
  const Lanes<Number> k = shifted - K::kRound;
  const Lanes<Number> r = (x - k * kLn2High) - k * kLn2Low;
  Lanes<Number> p = r * 0 + 1;
  for (int term = K::kTerms; term >= 1; --term) p = 1 + p * r * (Number{1} / static_cast<Number>(term));
  const auto bits = (std::bit_cast<typename K::Bits>(shifted) + K::kBias) << K::kMantissa;
  return p * std::bit_cast<Lanes<Number>>(bits);
}

template <class Number>
RATION_INLINE Lanes<Number> sigmoid(Lanes<Number> x) {
  const Lanes<Number> most = x * 0 + Kind<Number>::kMost;
  x = x > most ? most : x;
  x = x < -most ? -most : x;
  return 1 / (1 + exponential<Number>(-x));
}

template <class Number>
RATION_INLINE Lanes<Number> hyperbolic_tangent(Lanes<Number> x) {
  return 2 * sigmoid<Number>(2 * x) - 1;
}

// What a unit did, as far as going back needs it.
template <class Number>
struct Unit {
  Lanes<Number> gates[kGates];
  Lanes<Number> cell;
  Lanes<Number> squashed;  // tanh(cell)
};

// `weights`: the unit's part of the parameters.
template <class Number>
RATION_INLINE Unit<Number> run_unit(const Number* weights, const Lanes<Number>* z, std::size_t inputs,
                                    Lanes<Number> cell) {
  Lanes<Number> sum[kGates];
  for (std::size_t gate = 0; gate < kGates; ++gate) sum[gate] = z[0] * 0 + weights[gate];
  for (std::size_t j = 0; j < inputs; ++j) {
    const Number* const w = weights + kGates * (1 + j);
    for (std::size_t gate = 0; gate < kGates; ++gate) sum[gate] += w[gate] * z[j];
  }
  Unit<Number> unit;
  for (const Gate gate : {input, forget, output}) unit.gates[gate] = sigmoid<Number>(sum[gate]);
  unit.gates[candidate] = hyperbolic_tangent<Number>(sum[candidate]);
  unit.cell = unit.gates[forget] * cell + unit.gates[input] * unit.gates[candidate];
  unit.squashed = hyperbolic_tangent<Number>(unit.cell);
  return unit;
}

// One layer of one block of lanes: what goes in is inputs and hidden states.
template <class Number>
struct Layer {
  const Number* weights;
  std::size_t inputs;
  std::size_t units;

  std::size_t z() const { return inputs + units; }
  std::size_t unit_size() const { return kGates * (1 + z()); }
  const Number* unit(std::size_t u) const { return weights + u * unit_size(); }
};

template <class Number>
struct Network {
  Layer<Number> first, second;
  const Number* readout;

  Network(const LstmShape& shape, const Number* parameters)
      : first{parameters, shape.inputs, shape.units},
        second{parameters + shape.first_layer(), shape.units, shape.units},
        readout(parameters + shape.first_layer() + shape.second_layer()) {}
};

// Hidden states and cells of a layer of a block of lanes, where they lie in memory.
template <class Number>
RATION_INLINE void load_z(const Layer<Number>& layer, const Lanewise<Number>& state,
                          std::size_t first_feature, std::size_t place, Lanes<Number>* z) {
  for (std::size_t u = 0; u < layer.units; ++u)
    z[layer.inputs + u] = at(state.lanes(first_feature + u, place));
}

template <class Number>
RATION_INLINE void run_layer(const Layer<Number>& layer, const Lanes<Number>* z,
                             const Lanewise<Number>& state, std::size_t first_feature, std::size_t place,
                             Lanewise<Number>& next) {
  for (std::size_t u = 0; u < layer.units; ++u) {
    const std::size_t cell = first_feature + layer.units + u;
    const Unit<Number> unit = run_unit<Number>(layer.unit(u), z, layer.z(), at(state.lanes(cell, place)));
    at(next.lanes(cell, place)) = unit.cell;
    at(next.lanes(first_feature + u, place)) = unit.gates[output] * unit.squashed;
  }
}

template <class Number>
RATION_INLINE void forward_lanes(const LstmShape& shape, const Network<Number>& net,
                                 const Lanewise<Number>& inputs, const Lanewise<Number>& state,
                                 Lanewise<Number>& next, Lanewise<Number>& out, std::size_t begin,
                                 std::size_t end) {
  const std::size_t second = 2 * shape.units;  // where the second layer's state begins
  Lanes<Number> z[kMostZ];
  for (std::size_t place = begin; place < end; ++place) {
    for (std::size_t j = 0; j < shape.inputs; ++j) z[j] = at(inputs.lanes(j, place));
    load_z(net.first, state, 0, place, z);
    run_layer(net.first, z, state, 0, place, next);
    for (std::size_t u = 0; u < shape.units; ++u) z[u] = at(next.lanes(u, place));
    load_z(net.second, state, second, place, z);
    run_layer(net.second, z, state, second, place, next);
    Lanes<Number> y = z[0] * 0 + net.readout[shape.units];
    for (std::size_t u = 0; u < shape.units; ++u) y += net.readout[u] * at(next.lanes(second + u, place));
    at(out.lanes(0, place)) = y;
  }
}

RATION_PER_PROCESSOR void forward_some(const LstmShape& shape, const Network<float>& net,
                                       const Lanewise<float>& inputs, const Lanewise<float>& state,
                                       Lanewise<float>& next, Lanewise<float>& out, std::size_t begin,
                                       std::size_t end) {
  forward_lanes(shape, net, inputs, state, next, out, begin, end);
}
RATION_PER_PROCESSOR void forward_some(const LstmShape& shape, const Network<double>& net,
                                       const Lanewise<double>& inputs, const Lanewise<double>& state,
                                       Lanewise<double>& next, Lanewise<double>& out, std::size_t begin,
                                       std::size_t end) {
  forward_lanes(shape, net, inputs, state, next, out, begin, end);
}

// --- back

// Derivatives of a chunk of lanes by what went into the gates, and what went into the units, so that the
// products of both, the derivatives by the weights, are added up over many lanes at once.
constexpr std::size_t kChunk = 16;  // blocks of lanes

template <class Number>
struct Chunk {
  // [feature][block]
  std::vector<Number> z, d_gates;

  Chunk() : z(kMostZ * kChunk * kLanes), d_gates(kGates * kMostUnits * kChunk * kLanes) {}
  Lanes<Number>& z_at(std::size_t j, std::size_t block) {
    return at(z.data() + (j * kChunk + block) * kLanes);
  }
  Lanes<Number>& d_gate_at(std::size_t u, std::size_t gate, std::size_t block) {
    return at(d_gates.data() + ((u * kGates + gate) * kChunk + block) * kLanes);
  }
};

template <class Number>
RATION_INLINE Number sum_of(const Lanes<Number>& lanes) {
  Number sum = 0;
  for (std::size_t i = 0; i < kLanes; ++i) sum += lanes[i];
  return sum;
}

// All units of a layer, of one block.
template <class Number>
RATION_INLINE void run_units(const Layer<Number>& layer, const Lanes<Number>* z,
                             const Lanewise<Number>& state, std::size_t first_feature, std::size_t place,
                             Unit<Number>* units) {
  for (std::size_t u = 0; u < layer.units; ++u) {
    const std::size_t cell = first_feature + layer.units + u;
    units[u] = run_unit<Number>(layer.unit(u), z, layer.z(), at(state.lanes(cell, place)));
  }
}

// One layer of one block backwards: d_hidden and d_cell are the derivatives by its new state. Those by z go
// to d_z, by the old cells to d_cell; those by what went into the gates to the chunk.
template <class Number>
RATION_INLINE void back_through_layer(const Layer<Number>& layer, const Lanes<Number>* z,
                                      const Unit<Number>* units, const Lanewise<Number>& state,
                                      std::size_t first_feature, std::size_t place,
                                      const Lanes<Number>* d_hidden, Lanes<Number>* d_cell,
                                      Lanes<Number>* d_z, Chunk<Number>& chunk, std::size_t block) {
  for (std::size_t j = 0; j < layer.z(); ++j) {
    chunk.z_at(j, block) = z[j];
    d_z[j] = z[0] * 0;
  }
  for (std::size_t u = 0; u < layer.units; ++u) {
    const auto& gates = units[u].gates;
    const Lanes<Number> cell = at(state.lanes(first_feature + layer.units + u, place));
    const Lanes<Number> d_new_cell =
        d_cell[u] + d_hidden[u] * gates[output] * (1 - units[u].squashed * units[u].squashed);
    Lanes<Number> d[kGates];
    d[input] = d_new_cell * gates[candidate] * gates[input] * (1 - gates[input]);
    d[forget] = d_new_cell * cell * gates[forget] * (1 - gates[forget]);
    d[output] = d_hidden[u] * units[u].squashed * gates[output] * (1 - gates[output]);
    d[candidate] = d_new_cell * gates[input] * (1 - gates[candidate] * gates[candidate]);
    d_cell[u] = d_new_cell * gates[forget];
    const Number* const weights = layer.unit(u) + kGates;
    for (std::size_t j = 0; j < layer.z(); ++j) {
      const Number* const w = weights + kGates * j;
      d_z[j] += (w[input] * d[input] + w[forget] * d[forget]) +
                (w[output] * d[output] + w[candidate] * d[candidate]);
    }
    for (std::size_t gate = 0; gate < kGates; ++gate) chunk.d_gate_at(u, gate, block) = d[gate];
  }
}

// Adds to the derivatives of the layer's weights what the chunk's blocks contribute: two of z at a time, so
// that each number that is read serves several products.
template <class Number>
RATION_INLINE void add_weight_derivatives(const Layer<Number>& layer, Chunk<Number>& chunk,
                                          std::size_t blocks, Number* d_weights) {
  for (std::size_t u = 0; u < layer.units; ++u) {
    Number* const d_unit = d_weights + u * layer.unit_size();
    Lanes<Number> bias[kGates] = {};
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t gate = 0; gate < kGates; ++gate) bias[gate] += chunk.d_gate_at(u, gate, block);
    }
    for (std::size_t gate = 0; gate < kGates; ++gate) d_unit[gate] += sum_of<Number>(bias[gate]);
    for (std::size_t j = 0; j < layer.z(); j += 2) {
      const std::size_t pair = std::min<std::size_t>(2, layer.z() - j);
      Lanes<Number> sum[2][kGates] = {};
      for (std::size_t block = 0; block < blocks; ++block) {
        const Lanes<Number> one = chunk.z_at(j, block);
        const Lanes<Number> two = chunk.z_at(j + pair - 1, block);
        for (std::size_t gate = 0; gate < kGates; ++gate) {
          const Lanes<Number> d = chunk.d_gate_at(u, gate, block);
          sum[0][gate] += d * one;
          sum[1][gate] += d * two;
        }
      }
      for (std::size_t k = 0; k < pair; ++k) {
        for (std::size_t gate = 0; gate < kGates; ++gate)
          d_unit[kGates * (1 + j + k) + gate] += sum_of<Number>(sum[k][gate]);
      }
    }
  }
}

template <class Number>
struct Backward {
  const LstmShape& shape;
  Network<Number> net;
  const Lanewise<Number>& inputs;
  const Lanewise<Number>& state;
  const Lanewise<Number>& d_output;
  Lanewise<Number>& d_state;
  Lanewise<Number>& d_inputs;
};

template <class Number>
RATION_INLINE void backward_block(const Backward<Number>& back, std::size_t place, Chunk<Number>& first,
                                  Chunk<Number>& second, std::size_t block, Lanes<Number>* d_readout) {
  const std::size_t units = back.shape.units;
  Lanes<Number> z1[kMostZ], z2[kMostZ], d_z[kMostZ], d_hidden[kMostUnits], d_cell[kMostUnits];
  Unit<Number> units1[kMostUnits], units2[kMostUnits];
  for (std::size_t j = 0; j < back.shape.inputs; ++j) z1[j] = at(back.inputs.lanes(j, place));
  load_z(back.net.first, back.state, 0, place, z1);
  run_units(back.net.first, z1, back.state, 0, place, units1);
  for (std::size_t u = 0; u < units; ++u) z2[u] = units1[u].gates[output] * units1[u].squashed;
  load_z(back.net.second, back.state, 2 * units, place, z2);
  run_units(back.net.second, z2, back.state, 2 * units, place, units2);

  const Lanes<Number> d_y = at(back.d_output.lanes(0, place));
  d_readout[units] += d_y;
  for (std::size_t u = 0; u < units; ++u) {
    d_readout[u] += d_y * units2[u].gates[output] * units2[u].squashed;
    d_hidden[u] = at(back.d_state.lanes(2 * units + u, place)) + back.net.readout[u] * d_y;
    d_cell[u] = at(back.d_state.lanes(3 * units + u, place));
  }
  back_through_layer(back.net.second, z2, units2, back.state, 2 * units, place, d_hidden, d_cell, d_z, second,
                     block);
  for (std::size_t u = 0; u < units; ++u) {
    at(back.d_state.lanes(2 * units + u, place)) = d_z[units + u];
    at(back.d_state.lanes(3 * units + u, place)) = d_cell[u];
    d_hidden[u] = at(back.d_state.lanes(u, place)) + d_z[u];
    d_cell[u] = at(back.d_state.lanes(units + u, place));
  }
  back_through_layer(back.net.first, z1, units1, back.state, 0, place, d_hidden, d_cell, d_z, first, block);
  for (std::size_t u = 0; u < units; ++u) {
    at(back.d_state.lanes(u, place)) = d_z[back.shape.inputs + u];
    at(back.d_state.lanes(units + u, place)) = d_cell[u];
  }
  for (std::size_t j = 0; j < back.d_inputs.features(); ++j) at(back.d_inputs.lanes(j, place)) = d_z[j];
}

template <class Number>
RATION_INLINE void backward_lanes(const Backward<Number>& back, std::size_t begin, std::size_t end,
                                  Chunk<Number>& first, Chunk<Number>& second, Number* d_parameters) {
  const LstmShape& shape = back.shape;
  Lanes<Number> d_readout[kMostUnits + 1] = {};
  for (std::size_t start = begin; start < end; start += kChunk) {
    const std::size_t blocks = std::min(kChunk, end - start);
    for (std::size_t block = 0; block < blocks; ++block)
      backward_block(back, start + block, first, second, block, d_readout);
    add_weight_derivatives(back.net.first, first, blocks, d_parameters);
    add_weight_derivatives(back.net.second, second, blocks, d_parameters + shape.first_layer());
  }
  Number* const d_out = d_parameters + shape.first_layer() + shape.second_layer();
  for (std::size_t u = 0; u <= shape.units; ++u) d_out[u] += sum_of<Number>(d_readout[u]);
}

RATION_PER_PROCESSOR void backward_some(const Backward<float>& back, std::size_t begin, std::size_t end,
                                        Chunk<float>& first, Chunk<float>& second, float* d_parameters) {
  backward_lanes(back, begin, end, first, second, d_parameters);
}
RATION_PER_PROCESSOR void backward_some(const Backward<double>& back, std::size_t begin, std::size_t end,
                                        Chunk<double>& first, Chunk<double>& second, double* d_parameters) {
  backward_lanes(back, begin, end, first, second, d_parameters);
}

// --- sizes and threads

// Blocks of lanes for each thread, if there are enough of them to be worth one.
struct Parts {
  std::size_t blocks;
  std::size_t count;

  Parts(std::size_t all, std::size_t threads) : blocks(all) {
    constexpr std::size_t kWorthAThread = 32;  // a step of so many takes some 100 us
    count = std::clamp<std::size_t>(all / kWorthAThread, 1, std::max<std::size_t>(1, threads));
  }
  std::size_t begin(std::size_t part) const { return blocks * part / count; }
};

template <class Number>
void require_sizes(const LstmShape& shape, std::size_t parameters, const Lanewise<Number>& inputs,
                   const Lanewise<Number>& state) {
  if (shape.units == 0 || shape.units > kMostUnits || shape.inputs == 0 || shape.inputs > kMostInputs)
    throw InputError("LSTM: expected 1 to 64 units and 1 to 8 inputs");
  if (parameters != shape.parameters() || inputs.features() != shape.inputs ||
      state.features() != shape.state() || state.coordinates() != inputs.coordinates())
    throw InputError("LSTM: parameters, inputs and state do not fit its shape");
}

}  // namespace

template <class Number>
void lstm_forward(const LstmShape& shape, std::span<const Number> parameters, const Lanewise<Number>& inputs,
                  const Lanewise<Number>& state, Lanewise<Number>& next, Lanewise<Number>& out,
                  std::size_t threads) {
  require_sizes(shape, parameters.size(), inputs, state);
  const Network<Number> net(shape, parameters.data());
  const Parts parts(state.blocks(), threads);
  for_each_block(parts.count, parts.count, [&](std::size_t part) {
    forward_some(shape, net, inputs, state, next, out, parts.begin(part), parts.begin(part + 1));
  });
}

template <class Number>
void lstm_backward(const LstmShape& shape, std::span<const Number> parameters, const Lanewise<Number>& inputs,
                   const Lanewise<Number>& state, const Lanewise<Number>& d_output, Lanewise<Number>& d_state,
                   Lanewise<Number>& d_inputs, std::span<Number> d_parameters, std::size_t threads) {
  require_sizes(shape, parameters.size(), inputs, state);
  const Backward<Number> back{
      shape, Network<Number>(shape, parameters.data()), inputs, state, d_output, d_state, d_inputs};
  const Parts parts(state.blocks(), threads);
  std::vector<std::vector<Number>> sums(parts.count, std::vector<Number>(shape.parameters(), Number{0}));
  for_each_block(parts.count, parts.count, [&](std::size_t part) {
    thread_local Chunk<Number> first, second;
    backward_some(back, parts.begin(part), parts.begin(part + 1), first, second, sums[part].data());
  });
  for (const std::vector<Number>& sum : sums) {
    for (std::size_t i = 0; i < sum.size(); ++i) d_parameters[i] += sum[i];
  }
}

template void lstm_forward(const LstmShape&, std::span<const float>, const Lanewise<float>&,
                           const Lanewise<float>&, Lanewise<float>&, Lanewise<float>&, std::size_t);
template void lstm_forward(const LstmShape&, std::span<const double>, const Lanewise<double>&,
                           const Lanewise<double>&, Lanewise<double>&, Lanewise<double>&, std::size_t);
template void lstm_backward(const LstmShape&, std::span<const float>, const Lanewise<float>&,
                            const Lanewise<float>&, const Lanewise<float>&, Lanewise<float>&,
                            Lanewise<float>&, std::span<float>, std::size_t);
template void lstm_backward(const LstmShape&, std::span<const double>, const Lanewise<double>&,
                            const Lanewise<double>&, const Lanewise<double>&, Lanewise<double>&,
                            Lanewise<double>&, std::span<double>, std::size_t);

}  // namespace ration::protector
