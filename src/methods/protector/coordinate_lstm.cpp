#include "methods/protector/coordinate_lstm.h"

#include <algorithm>
#include <array>
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

// How numbers are made of bits.
template <class Number>
struct Format;

template <>
struct Format<float> {
  using Word = std::uint32_t;
  static constexpr float kRound = 0x1.8p23f;
  static constexpr Word kBias = 127, kMantissa = 23;
  static constexpr float kMost = 80;  // e^80 is finite
  static constexpr std::size_t kTerms = 6;
};

template <>
struct Format<double> {
  using Word = std::uint64_t;
  static constexpr double kRound = 0x1.8p52;
  static constexpr Word kBias = 1023, kMantissa = 52;
  static constexpr double kMost = 300;
  static constexpr std::size_t kTerms = 13;
};

// Vectors as wide as those of the instruction set: the compiler would take a wider one apart, number by
// number. `kSide` of them go side by side, so that there are enough sums that do not wait for each other.
template <class Number_, std::size_t Bytes>
struct Simd {
  using Number = Number_;
  using Vector [[gnu::vector_size(Bytes), gnu::may_alias]] = Number;
  using Bits [[gnu::vector_size(Bytes), gnu::may_alias]] = typename Format<Number>::Word;
  static constexpr std::size_t kWidth = Bytes / sizeof(Number);
  static constexpr std::size_t kSide = std::min<std::size_t>(2, kLanes / kWidth);
  static constexpr std::size_t kTogether = kSide * kWidth;  // coordinates
};

template <class S>
using Vector = typename S::Vector;

template <class S>
RATION_INLINE const Vector<S>& at(const typename S::Number* values) {
  return *reinterpret_cast<const Vector<S>*>(values);
}
template <class S>
RATION_INLINE Vector<S>& at(typename S::Number* values) {
  return *reinterpret_cast<Vector<S>*>(values);
}

// 1 / n!
template <class Number>
constexpr auto kExponential = [] {
  std::array<Number, Format<Number>::kTerms + 1> c{};
  double factorial = 1;
  for (std::size_t n = 0; n < c.size(); ++n) {
    factorial *= n == 0 ? 1 : static_cast<double>(n);
    c[n] = static_cast<Number>(1 / factorial);
  }
  return c;
}();

// e^x for |x| <= kMost: 2^k e^r with |r| <= ln(2)/2, e^r by its Taylor polynomial.
template <class S>
RATION_INLINE Vector<S> exponential(Vector<S> x) {
  using Number = typename S::Number;
  using F = Format<Number>;
  constexpr auto kLog2OfE = static_cast<Number>(1.4426950408889634);
  constexpr auto kLn2High = static_cast<Number>(0.693145751953125);  // few bits: its product with k is exact
  constexpr auto kLn2Low = static_cast<Number>(1.42860682030941723212e-6);
  constexpr auto& c = kExponential<Number>;
  const Vector<S> shifted = x * kLog2OfE + F::kRound;
  const Vector<S> k = shifted - F::kRound;
  const Vector<S> r = (x - k * kLn2High) - k * kLn2Low;
  Vector<S> p = r * c[F::kTerms] + c[F::kTerms - 1];
  for (std::size_t n = F::kTerms - 1; n-- > 0;) p = p * r + c[n];
  const auto bits = (std::bit_cast<typename S::Bits>(shifted) + F::kBias) << F::kMantissa;
  return p * std::bit_cast<Vector<S>>(bits);
}

template <class S>
RATION_INLINE Vector<S> sigmoid(Vector<S> x) {
  const Vector<S> most = Vector<S>{} + Format<typename S::Number>::kMost;
  x = most < x ? most : x;
  x = -most > x ? -most : x;
  return 1 / (1 + exponential<S>(-x));
}

template <class S>
RATION_INLINE Vector<S> hyperbolic_tangent(Vector<S> x) {
  return 2 * sigmoid<S>(2 * x) - 1;
}

// What a unit did, as far as going back needs it.
template <class S>
struct Unit {
  Vector<S> gates[kGates];
  Vector<S> cell;
  Vector<S> squashed;  // tanh(cell)
};

// What goes into the gates of a unit, `weights` being its part of the parameters; then what comes out.
template <class S>
using Sums = Vector<S>[kGates][S::kSide];

template <class S>
RATION_INLINE void add_up(const typename S::Number* weights, const Vector<S>* z, std::size_t inputs,
                          Sums<S>& sum) {
  for (std::size_t gate = 0; gate < kGates; ++gate) {
    for (std::size_t i = 0; i < S::kSide; ++i) sum[gate][i] = Vector<S>{} + weights[gate];
  }
  for (std::size_t j = 0; j < inputs; ++j) {
    const typename S::Number* const w = weights + kGates * (1 + j);
    for (std::size_t gate = 0; gate < kGates; ++gate) {
      for (std::size_t i = 0; i < S::kSide; ++i) sum[gate][i] += w[gate] * z[j * S::kSide + i];
    }
  }
}

template <class S>
RATION_INLINE Unit<S> squash(const Sums<S>& sum, std::size_t i, Vector<S> cell) {
  Unit<S> unit;
  for (const Gate gate : {input, forget, output}) unit.gates[gate] = sigmoid<S>(sum[gate][i]);
  unit.gates[candidate] = hyperbolic_tangent<S>(sum[candidate][i]);
  unit.cell = unit.gates[forget] * cell + unit.gates[input] * unit.gates[candidate];
  unit.squashed = hyperbolic_tangent<S>(unit.cell);
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

// kTogether coordinates of a block: where each feature of them lies.
struct Place {
  std::size_t block;
  std::size_t lane;

  template <class State>
  RATION_INLINE auto* in(State& state, std::size_t feature) const {
    return state.lanes(feature, block) + lane;
  }
};

// `count` features from the first-th on, to z.
template <class S>
RATION_INLINE void load(const Lanewise<typename S::Number>& state, std::size_t first, std::size_t count,
                        Place place, Vector<S>* z) {
  for (std::size_t u = 0; u < count; ++u) {
    const auto* const from = place.in(state, first + u);
    for (std::size_t i = 0; i < S::kSide; ++i) z[u * S::kSide + i] = at<S>(from + i * S::kWidth);
  }
}

template <class S>
RATION_INLINE void run_layer(const Layer<typename S::Number>& layer, const Vector<S>* z,
                             const Lanewise<typename S::Number>& state, std::size_t first_feature,
                             Place place, Lanewise<typename S::Number>& next) {
  for (std::size_t u = 0; u < layer.units; ++u) {
    Sums<S> sum;
    add_up<S>(layer.unit(u), z, layer.z(), sum);
    const std::size_t cell = first_feature + layer.units + u;
    for (std::size_t i = 0; i < S::kSide; ++i) {
      const Unit<S> unit = squash<S>(sum, i, at<S>(place.in(state, cell) + i * S::kWidth));
      at<S>(place.in(next, cell) + i * S::kWidth) = unit.cell;
      at<S>(place.in(next, first_feature + u) + i * S::kWidth) = unit.gates[output] * unit.squashed;
    }
  }
}

// Blocks [begin, end) of a step.
template <class S, class Number = typename S::Number>
RATION_INLINE void forward_lanes(const LstmShape& shape, const Network<Number>& net,
                                 const Lanewise<Number>& inputs, const Lanewise<Number>& state,
                                 Lanewise<Number>& next, Lanewise<Number>& out, std::size_t begin,
                                 std::size_t end) {
  const std::size_t second = 2 * shape.units;  // where the second layer's state begins
  Vector<S> z[kMostZ * S::kSide];
  for (Place place{begin, 0}; place.block < end;) {
    load<S>(inputs, 0, shape.inputs, place, z);
    load<S>(state, 0, shape.units, place, z + shape.inputs * S::kSide);
    run_layer<S>(net.first, z, state, 0, place, next);
    load<S>(next, 0, shape.units, place, z);
    load<S>(state, second, shape.units, place, z + shape.units * S::kSide);
    run_layer<S>(net.second, z, state, second, place, next);
    for (std::size_t i = 0; i < S::kSide; ++i) {
      Vector<S> y = Vector<S>{} + net.readout[shape.units];
      for (std::size_t u = 0; u < shape.units; ++u)
        y += net.readout[u] * at<S>(place.in(next, second + u) + i * S::kWidth);
      at<S>(place.in(out, 0) + i * S::kWidth) = y;
    }
    place.lane += S::kTogether;
    if (place.lane == kLanes) place = {place.block + 1, 0};
  }
}

// --- back

// Derivatives of a chunk of lanes by what went into the gates, and what went into the units, so that the
// products of both, the derivatives by the weights, are added up over many lanes at once.
constexpr std::size_t kChunk = 16;  // blocks of lanes

template <class Number>
struct Chunk {
  LaneMemory<Number> z, d_gates;  // [feature][lane]

  Chunk() : z(kMostZ * kChunk * kLanes), d_gates(kGates * kMostUnits * kChunk * kLanes) {}
  Number* z_at(std::size_t j, std::size_t lane) { return z.data() + j * kChunk * kLanes + lane; }
  Number* d_gate_at(std::size_t u, std::size_t gate, std::size_t lane) {
    return d_gates.data() + (u * kGates + gate) * kChunk * kLanes + lane;
  }
};

template <class S>
RATION_INLINE typename S::Number sum_of(const Vector<S>& lanes) {
  typename S::Number sum = 0;
  for (std::size_t i = 0; i < S::kWidth; ++i) sum += lanes[i];
  return sum;
}

// All units of a layer, of kTogether coordinates: those of one vector at [u * kSide + i].
template <class S>
RATION_INLINE void run_units(const Layer<typename S::Number>& layer, const Vector<S>* z,
                             const Lanewise<typename S::Number>& state, std::size_t first_feature,
                             Place place, Unit<S>* units) {
  for (std::size_t u = 0; u < layer.units; ++u) {
    Sums<S> sum;
    add_up<S>(layer.unit(u), z, layer.z(), sum);
    const auto* const cell = place.in(state, first_feature + layer.units + u);
    for (std::size_t i = 0; i < S::kSide; ++i)
      units[u * S::kSide + i] = squash<S>(sum, i, at<S>(cell + i * S::kWidth));
  }
}

// One layer of one vector backwards; z and units are kSide apart. d_hidden and d_cell are the derivatives by
// its new state. Those by z go to d_z, by the old cells to d_cell; those by what went into the gates to the
// chunk.
template <class S>
RATION_INLINE void back_through_layer(const Layer<typename S::Number>& layer, const Vector<S>* z,
                                      const Unit<S>* units, const Lanewise<typename S::Number>& state,
                                      std::size_t first_feature, Place place, const Vector<S>* d_hidden,
                                      Vector<S>* d_cell, Vector<S>* d_z, Chunk<typename S::Number>& chunk,
                                      std::size_t lane) {
  for (std::size_t j = 0; j < layer.z(); ++j) {
    at<S>(chunk.z_at(j, lane)) = z[j * S::kSide];
    d_z[j] = Vector<S>{};
  }
  for (std::size_t u = 0; u < layer.units; ++u) {
    const Unit<S>& unit = units[u * S::kSide];
    const auto& gates = unit.gates;
    const Vector<S> cell = at<S>(place.in(state, first_feature + layer.units + u));
    const Vector<S> d_new_cell =
        d_cell[u] + d_hidden[u] * gates[output] * (1 - unit.squashed * unit.squashed);
    Vector<S> d[kGates];
    d[input] = d_new_cell * gates[candidate] * gates[input] * (1 - gates[input]);
    d[forget] = d_new_cell * cell * gates[forget] * (1 - gates[forget]);
    d[output] = d_hidden[u] * unit.squashed * gates[output] * (1 - gates[output]);
    d[candidate] = d_new_cell * gates[input] * (1 - gates[candidate] * gates[candidate]);
    d_cell[u] = d_new_cell * gates[forget];
    const auto* const weights = layer.unit(u) + kGates;
    for (std::size_t j = 0; j < layer.z(); ++j) {
      const auto* const w = weights + kGates * j;
      d_z[j] += (w[input] * d[input] + w[forget] * d[forget]) +
                (w[output] * d[output] + w[candidate] * d[candidate]);
    }
    for (std::size_t gate = 0; gate < kGates; ++gate) at<S>(chunk.d_gate_at(u, gate, lane)) = d[gate];
  }
}

// Adds to the derivatives of the layer's weights what the chunk's lanes contribute: two of z at a time, so
// that each number that is read serves several products.
template <class S, class Number = typename S::Number>
RATION_INLINE void add_weight_derivatives(const Layer<Number>& layer, Chunk<Number>& chunk, std::size_t lanes,
                                          Number* d_weights) {
  for (std::size_t u = 0; u < layer.units; ++u) {
    Number* const d_unit = d_weights + u * layer.unit_size();
    Vector<S> bias[kGates] = {};
    for (std::size_t lane = 0; lane < lanes; lane += S::kWidth) {
      for (std::size_t gate = 0; gate < kGates; ++gate) bias[gate] += at<S>(chunk.d_gate_at(u, gate, lane));
    }
    for (std::size_t gate = 0; gate < kGates; ++gate) d_unit[gate] += sum_of<S>(bias[gate]);
    for (std::size_t j = 0; j < layer.z(); j += 2) {
      const std::size_t pair = std::min<std::size_t>(2, layer.z() - j);
      Vector<S> sum[2][kGates] = {};
      for (std::size_t lane = 0; lane < lanes; lane += S::kWidth) {
        const Vector<S> one = at<S>(chunk.z_at(j, lane));
        const Vector<S> two = at<S>(chunk.z_at(j + pair - 1, lane));
        for (std::size_t gate = 0; gate < kGates; ++gate) {
          const Vector<S> d = at<S>(chunk.d_gate_at(u, gate, lane));
          sum[0][gate] += d * one;
          sum[1][gate] += d * two;
        }
      }
      for (std::size_t k = 0; k < pair; ++k) {
        for (std::size_t gate = 0; gate < kGates; ++gate)
          d_unit[kGates * (1 + j + k) + gate] += sum_of<S>(sum[k][gate]);
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

// What kTogether coordinates did.
template <class S>
struct Done {
  Vector<S> z1[kMostZ * S::kSide], z2[kMostZ * S::kSide];
  Unit<S> units1[kMostUnits * S::kSide], units2[kMostUnits * S::kSide];
};

template <class S>
RATION_INLINE void run_both_layers(const Backward<typename S::Number>& back, Place place, Done<S>& done) {
  const std::size_t units = back.shape.units;
  load<S>(back.inputs, 0, back.shape.inputs, place, done.z1);
  load<S>(back.state, 0, units, place, done.z1 + back.shape.inputs * S::kSide);
  run_units<S>(back.net.first, done.z1, back.state, 0, place, done.units1);
  for (std::size_t u = 0; u < units * S::kSide; ++u)
    done.z2[u] = done.units1[u].gates[output] * done.units1[u].squashed;
  load<S>(back.state, 2 * units, units, place, done.z2 + units * S::kSide);
  run_units<S>(back.net.second, done.z2, back.state, 2 * units, place, done.units2);
}

// One vector: the i-th of those that were done, at `place`.
template <class S>
RATION_INLINE void back_through_both(const Backward<typename S::Number>& back, Place place,
                                     const Done<S>& done, std::size_t i, Chunk<typename S::Number>& first,
                                     Chunk<typename S::Number>& second, std::size_t lane,
                                     Vector<S>* d_readout) {
  const std::size_t units = back.shape.units;
  Vector<S> d_z[kMostZ], d_hidden[kMostUnits], d_cell[kMostUnits];
  const auto d_state = [&](std::size_t feature) -> Vector<S>& {
    return at<S>(place.in(back.d_state, feature));
  };
  const Vector<S> d_y = at<S>(place.in(back.d_output, 0));
  d_readout[units] += d_y;
  for (std::size_t u = 0; u < units; ++u) {
    const Unit<S>& unit = done.units2[u * S::kSide + i];
    d_readout[u] += d_y * unit.gates[output] * unit.squashed;
    d_hidden[u] = d_state(2 * units + u) + back.net.readout[u] * d_y;
    d_cell[u] = d_state(3 * units + u);
  }
  back_through_layer<S>(back.net.second, done.z2 + i, done.units2 + i, back.state, 2 * units, place, d_hidden,
                        d_cell, d_z, second, lane);
  for (std::size_t u = 0; u < units; ++u) {
    d_state(2 * units + u) = d_z[units + u];
    d_state(3 * units + u) = d_cell[u];
    d_hidden[u] = d_state(u) + d_z[u];
    d_cell[u] = d_state(units + u);
  }
  back_through_layer<S>(back.net.first, done.z1 + i, done.units1 + i, back.state, 0, place, d_hidden, d_cell,
                        d_z, first, lane);
  for (std::size_t u = 0; u < units; ++u) {
    d_state(u) = d_z[back.shape.inputs + u];
    d_state(units + u) = d_cell[u];
  }
  for (std::size_t j = 0; j < back.d_inputs.features(); ++j) at<S>(place.in(back.d_inputs, j)) = d_z[j];
}

// Blocks [begin, end) of a step backwards.
template <class S, class Number = typename S::Number>
RATION_INLINE void backward_lanes(const Backward<Number>& back, std::size_t begin, std::size_t end,
                                  Chunk<Number>& first, Chunk<Number>& second, Number* d_parameters) {
  const LstmShape& shape = back.shape;
  Done<S> done;
  Vector<S> d_readout[kMostUnits + 1] = {};
  for (std::size_t start = begin; start < end; start += kChunk) {
    const std::size_t lanes = std::min(kChunk, end - start) * kLanes;
    for (std::size_t lane = 0; lane < lanes; lane += S::kTogether) {
      Place place{start + lane / kLanes, lane % kLanes};
      run_both_layers<S>(back, place, done);
      for (std::size_t i = 0; i < S::kSide; ++i, place.lane += S::kWidth)
        back_through_both<S>(back, place, done, i, first, second, lane + i * S::kWidth, d_readout);
    }
    add_weight_derivatives<S>(back.net.first, first, lanes, d_parameters);
    add_weight_derivatives<S>(back.net.second, second, lanes, d_parameters + shape.first_layer());
  }
  Number* const d_out = d_parameters + shape.first_layer() + shape.second_layer();
  for (std::size_t u = 0; u <= shape.units; ++u) d_out[u] += sum_of<S>(d_readout[u]);
}

template <class Number>
using Forwards = PerProcessor<forward_lanes<Simd<Number, 16>>, forward_lanes<Simd<Number, 32>>,
                              forward_lanes<Simd<Number, 64>>>;
template <class Number>
using Backwards = PerProcessor<backward_lanes<Simd<Number, 16>>, backward_lanes<Simd<Number, 32>>,
                               backward_lanes<Simd<Number, 64>>>;

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
    Forwards<Number>::call(shape, net, inputs, state, next, out, parts.begin(part), parts.begin(part + 1));
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
    Backwards<Number>::call(back, parts.begin(part), parts.begin(part + 1), first, second, sums[part].data());
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
