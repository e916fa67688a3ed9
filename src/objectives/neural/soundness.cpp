#include "objectives/neural/soundness.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/keyed_bits.h"
#include "objectives/neural/row_draws.h"
#include "ration/base/error.h"
#include "ration/objectives/neural/layers.h"

namespace ration::nn {
namespace {

using torch::nn::Module;

using RowNumbers = std::span<const std::uint64_t>;

// What a network is tried on: rows that are made up from their numbers, alone and in batches of any size and
// order of theirs.
constexpr std::array<std::uint64_t, 5> kAll = {0, 1, 2, 3, 4};
constexpr std::array<std::uint64_t, 3> kSome = {1, 2, 4};
constexpr std::array<std::uint64_t, 2> kTwo = {0, 3};
constexpr std::array<double, kAll.size()> kSizes = {1, 0.3, 2, 0.1, 0.7};     // of the rows' slopes
constexpr std::array<double, kAll.size()> kFactors = {1, 0.5, 2, 0.25, 1.5};  // that the rows are weighed by

bool has_own_trained_parameters(const Module& module) {
  const auto own = module.parameters(false);
  return std::any_of(own.begin(), own.end(), [](const torch::Tensor& one) { return one.requires_grad(); });
}

// torch::nn::LinearImpl -> Linear
std::string short_name(const Module& module) {
  std::string name = module.name();
  if (const auto colons = name.rfind("::"); colons != std::string::npos) name = name.substr(colons + 2);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

bool draws_by_place(const Module& module) {
  return short_name(module).find("Dropout") != std::string::npos &&
         dynamic_cast<const DropoutImpl*>(&module) == nullptr;
}

bool mixes_rows(const Module& module) {
  return short_name(module).find("BatchNorm") != std::string::npos;
}

std::string instead_of(const std::string& name) {
  constexpr std::array<std::string_view, 6> kSame = {"Linear",    "Conv1d",    "Conv2d",
                                                     "Embedding", "LayerNorm", "GroupNorm"};
  if (std::find(kSame.begin(), kSame.end(), name) != kSame.end()) return "ration::nn::" + name;
  if (name.starts_with("InstanceNorm")) return "ration::nn::InstanceNorm";
  if (name == "MultiheadAttention" || name == "GRUCell" || name == "LSTMCell") return "ration::nn::" + name;
  if (name == "GRU" || name == "LSTM" || name == "RNN")
    return "ration::nn::GRUCell or LSTMCell, step by step";
  return "layers of ration/objectives/neural/layers.h";
}

void require_sound_layer(const std::string& where, const Module& module, bool row_by_row) {
  const std::string name = short_name(module);
  if (mixes_rows(module)) {
    throw InputError(fmt::format(
        "network: module '{}' is a {}, which mixes rows, so that no row's influence is bounded; use "
        "ration::nn::GroupNorm",
        where, name));
  }
  if (draws_by_place(module)) {
    throw InputError(
        fmt::format("network: module '{}' is a {}, whose masks torch draws by a row's place in the batch "
                    "from a seed that "
                    "can be guessed; use ration::nn::Dropout",
                    where, name));
  }
  if (row_by_row || dynamic_cast<const PrivateLayer*>(&module) != nullptr) return;
  if (!has_own_trained_parameters(module)) return;
  throw InputError(fmt::format(
      "network: module '{}' is a {} with parameters that clipping does not know; use {}, freeze it, or set "
      "row_by_row, which is slow",
      where, name, instead_of(name)));
}

void require_no_sharing(const Module& network) {
  std::set<const void*> seen;
  for (const auto& module : network.modules()) {
    for (const torch::Tensor& parameter : module->parameters(false)) {
      if (!parameter.requires_grad() || parameter.numel() == 0) continue;
      if (!seen.insert(parameter.data_ptr()).second) {
        throw InputError(
            fmt::format("network: two modules share a parameter, one of them a {}; give each its own",
                        short_name(*module)));
      }
    }
  }
}

// In [0, 1), by number alone.
double made_up(std::uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15U;
  i = (i ^ (i >> 29)) * 0xbf58476d1ce4e5b9U;
  return static_cast<double>((i ^ (i >> 32)) >> 11) * 0x1p-53;
}

// Numbers that nobody drew from any data: tokens, or numbers in [0, 1), or of either sign and larger.
enum class Numbers { small, large };

torch::Tensor public_rows(const NeuralOptions& options, RowNumbers rows, Numbers numbers) {
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(rows.size())};
  shape.insert(shape.end(), options.input.begin(), options.input.end());
  torch::Tensor x = torch::empty(shape);
  const auto columns = static_cast<std::uint64_t>(x.numel()) / rows.size();
  float* to = x.data_ptr<float>();
  for (const std::uint64_t row : rows) {
    for (std::uint64_t j = 0; j < columns; ++j) {
      const double value = made_up((2 * row + (numbers == Numbers::large ? 1 : 0)) * columns + j);
      if (options.ids_below > 0) {
        *to++ = static_cast<float>(std::floor(value * static_cast<double>(options.ids_below)));
      } else {
        *to++ = static_cast<float>(numbers == Numbers::large ? 6 * value - 3 : value);
      }
    }
  }
  return x.to(torch::Device(options.device));
}

std::vector<torch::Tensor> copies_of(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> out;
  for (const torch::Tensor& tensor : tensors) out.push_back(tensor.clone());
  return out;
}

auto saying_what_torch_says(const auto& run) {
  try {
    return run();
  } catch (const c10::Error& error) {
    throw InputError(
        fmt::format("network: it does not run on rows of this shape: {}", error.what_without_backtrace()));
  }
}

bool are_alike(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::allclose(a, b, 1e-3, 1e-4, /*equal_nan=*/true);
}

// The state of torch's own generator.
torch::Tensor generator_state() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

struct RowsMix : InputError {
  RowsMix()
      : InputError(
            "network: a layer sees the rows in another order, or the gradients of a row change with the rows "
            "beside it, so that no row's influence is bounded") {}
};

// A network as make_neural() uses it, on rows that are made up.
class Trial {
 public:
  Trial(const Network& network, const NeuralOptions& options, Kernels kernels, FlatParameters& flat)
      : network_(network),
        options_(options),
        kernels_(kernels),
        flat_(flat),
        masks_(SecureRandom::for_this_thread()) {}

  torch::Tensor outputs(RowNumbers rows, Numbers numbers) {
    const torch::NoGradGuard no_gradient;
    return forward(rows, numbers);
  }
  void require_same_alone(Numbers numbers);
  void require_no_draws();
  // False if gradients are not finite there, so that nothing can be said.
  bool require_sites_apart(Numbers numbers);

 private:
  // What one pass leaves on its tape.
  struct Traces {
    std::vector<const void*> layers;           // the first parameter of each site
    std::vector<std::vector<double>> squared;  // norms by site and row
    std::vector<double> shadows;  // of each site's weighted sum: its sum with signs that are made up
  };

  torch::Tensor forward(RowNumbers rows, Numbers numbers);
  Traces traces_of(RowNumbers rows, Numbers numbers);
  void require_all_reported(const std::vector<torch::Tensor>& reported) const;

  const Network& network_;
  const NeuralOptions& options_;
  Kernels kernels_;
  FlatParameters& flat_;
  KeyedBits masks_;  // the same for a row in all passes
};

torch::Tensor Trial::forward(RowNumbers rows, Numbers numbers) {
  const RowDraws draws(rows, masks_);
  const torch::Tensor y =
      saying_what_torch_says([&] { return network_.forward(public_rows(options_, rows, numbers)); });
  require_outputs(y, static_cast<std::int64_t>(rows.size()), options_.classes);
  return y;
}

void Trial::require_same_alone(Numbers numbers) {
  const torch::Tensor all = outputs(kAll, numbers);
  for (const RowNumbers rows : {RowNumbers(kSome), RowNumbers(kTwo), RowNumbers(kAll)}) {
    const torch::Tensor together = outputs(rows, numbers);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const torch::Tensor here = together.narrow(0, static_cast<std::int64_t>(r), 1);
      const torch::Tensor alone = outputs({&rows[r], 1}, numbers);
      if (!are_alike(alone, here)) {
        throw InputError(
            "network: the outputs of a row change with the rows beside it, so that no row's influence is "
            "bounded");
      }
    }
  }
  if (!are_alike(all, outputs(kAll, numbers))) {
    throw InputError(
        "network: the outputs of the same rows differ from one time to the next: it draws random numbers by "
        "itself, in place of ration::nn::Dropout, or remembers rows");
  }
}

// Another thread may draw at the same time: three times are no accident.
void Trial::require_no_draws() {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const torch::Tensor before = generator_state();
    outputs(kAll, Numbers::small);
    if (torch::equal(before, generator_state())) return;
  }
  throw InputError(
      "network: it draws random numbers by torch's generator, by a row's place in the batch and from a seed "
      "that can be guessed; use ration::nn::Dropout");
}

void Trial::require_all_reported(const std::vector<torch::Tensor>& reported) const {
  const auto is_reported = [&](const torch::Tensor& one) {
    return std::any_of(reported.begin(), reported.end(),
                       [&](const torch::Tensor& other) { return other.is_same(one); });
  };
  for (const auto& named : network_.module->named_modules("", true)) {
    const auto own = named.value()->named_parameters(false);
    const bool is_used =
        std::any_of(own.begin(), own.end(), [&](const auto& one) { return is_reported(one.value()); });
    for (const auto& one : own) {
      if (!is_used || !one.value().requires_grad() || is_reported(one.value())) continue;
      throw InputError(fmt::format(
          "network: module '{}' is a {} with a parameter '{}' that its layer does not know, so that "
          "nothing clips its gradient; freeze it, or set row_by_row, which is slow",
          named.key(), short_name(*named.value()), one.key()));
    }
  }
}

Trial::Traces Trial::traces_of(RowNumbers rows, Numbers numbers) {
  Tape tape(static_cast<std::int64_t>(rows.size()), 0, kernels_);
  flat_.hide_gradients();
  const torch::Tensor y = forward(rows, numbers);
  torch::Tensor slopes = torch::empty(y.sizes(), torch::kFloat);
  torch::Tensor factors = torch::empty({y.size(0)}, torch::kFloat);
  float* to = slopes.data_ptr<float>();
  const auto width = static_cast<std::uint64_t>(y.size(1));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::uint64_t j = 0; j < width; ++j)
      *to++ = static_cast<float>(kSizes[rows[r]] * (2 * made_up(rows[r] * width + j + 7) - 1));
    factors.data_ptr<float>()[r] = static_cast<float>(kFactors[rows[r]]);
  }
  saying_what_torch_says([&] { y.backward(slopes.to(y.device())); });
  flat_.show_gradients();
  const torch::NoGradGuard no_gradient;
  const std::vector<torch::Tensor> reported = reported_by(tape);
  flat_.clear_all_but(reported);
  require_all_reported(reported);
  Traces out;
  for (const auto& site : tape.sites()) {
    const std::vector<torch::Tensor> parameters = site->parameters();
    out.layers.push_back(parameters.empty() ? nullptr : parameters[0].unsafeGetTensorImpl());
    site->add_squared_norms(out.squared.emplace_back(rows.size()));
    site->write_weighted(factors.to(y.device()));
    double shadow = 0;
    for (const torch::Tensor& one : parameters) {
      const torch::Tensor gradient = one.grad().cpu().contiguous();
      for (std::int64_t i = 0; i < gradient.numel(); ++i) {
        const double value = static_cast<double>(gradient.data_ptr<float>()[i]);
        shadow += made_up(static_cast<std::uint64_t>(i)) < 0.5 ? -value : value;
      }
    }
    out.shadows.push_back(shadow);
  }
  return out;
}

// The gradients that clipping sees of a row must be the row's own: those of the row alone, in every site.
bool Trial::require_sites_apart(Numbers numbers) {
  const auto require_apart = [](bool holds) {
    if (!holds) throw RowsMix();
  };
  std::vector<Traces> alone;
  std::vector<double> whole;  // the norm of each row over all sites
  for (const std::uint64_t& row : kAll) {
    alone.push_back(traces_of({&row, 1}, numbers));
    double squared = 0;
    for (const auto& of_site : alone.back().squared) squared += of_site[0];
    if (!std::isfinite(squared)) return false;
    whole.push_back(std::sqrt(squared));
  }
  for (const RowNumbers rows : {RowNumbers(kAll), RowNumbers(kSome), RowNumbers(kTwo)}) {
    const Traces together = traces_of(rows, numbers);
    for (const std::uint64_t row : rows) require_apart(together.layers == alone[row].layers);
    for (std::size_t site = 0; site < together.layers.size(); ++site) {
      double shadow = 0, room = 0;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const double norm = std::sqrt(alone[rows[r]].squared[site][0]);
        // Positions that nearly cancel leave a norm that is all rounding, up to 2e-4 of the whole gradient in
        // networks drawn at random; rows that mix move it by a large part.
        const double of_row = 1e-3 * norm + 5e-4 * whole[rows[r]];
        require_apart(std::abs(std::sqrt(together.squared[site][r]) - norm) <= of_row);
        shadow += alone[rows[r]].shadows[site];
        room += kFactors[rows[r]] * of_row;
      }
      require_apart(std::abs(together.shadows[site] - shadow) <= 4 * room);
    }
  }
  return true;
}

// Weights near those of the network, none of them zero: where half of them are, gradients say little.
class MovedWeights {
 public:
  MovedWeights(const Module& network, FlatParameters& flat, std::uint64_t number)
      : flat_(flat), own_(trained_parameters(network)) {
    std::vector<double> moved = own_;
    for (std::size_t i = 0; i < moved.size(); ++i)
      moved[i] += 0.02 * (2 * made_up(number * moved.size() + i) - 1);
    flat_.load(moved);
  }
  ~MovedWeights() { flat_.load(own_); }
  MovedWeights(const MovedWeights&) = delete;
  MovedWeights& operator=(const MovedWeights&) = delete;

 private:
  FlatParameters& flat_;
  std::vector<double> own_;
};

// At other weights once more if rows seem to mix: where a maximum has two equals, or a unit stands at its
// kink, the rounding of a larger batch may choose otherwise. Rows that do mix do so everywhere.
void require_sites_apart(Trial& trial, const Module& module, FlatParameters& flat) {
  constexpr std::uint64_t kTries = 3;
  for (std::uint64_t number = 0; number < kTries; ++number) {
    const MovedWeights moved(module, flat, number);
    try {
      const bool small = trial.require_sites_apart(Numbers::small);
      const bool large = trial.require_sites_apart(Numbers::large);
      if (!small && !large) throw InputError("network: its gradients are not finite on numbers of size 1");
      return;
    } catch (const RowsMix&) {
      if (number + 1 == kTries) throw;
    }
  }
}

void require_unchanged(const std::vector<torch::Tensor>& before, const std::vector<torch::Tensor>& after) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!torch::equal(before[i], after[i])) {
      throw InputError("network: a buffer changes with the rows it sees, which no noise would protect");
    }
  }
}

}  // namespace

void require_sound_layers(const Module& network, bool row_by_row) {
  for (const auto& named : network.named_modules("", true)) {
    require_sound_layer(named.key().empty() ? "network" : named.key(), *named.value(), row_by_row);
  }
  require_no_sharing(network);
}

void require_outputs(const torch::Tensor& y, std::int64_t rows, std::size_t classes) {
  const auto expected = static_cast<std::int64_t>(std::max<std::size_t>(1, classes));
  if (y.dim() == 2 && y.size(0) == rows && y.size(1) == expected) return;
  throw InputError(fmt::format("network: expected outputs of shape {} x {}, got {}", rows, expected,
                               fmt::join(y.sizes().vec(), " x ")));
}

std::vector<torch::Tensor> reported_by(const Tape& tape) {
  std::vector<torch::Tensor> out;
  for (const auto& site : tape.sites()) {
    for (torch::Tensor& one : site->parameters()) out.push_back(std::move(one));
  }
  return out;
}

void require_rows_apart(const Network& network, const NeuralOptions& options, Kernels kernels,
                        FlatParameters& flat) {
  Module& module = *network.module;
  Trial trial(network, options, kernels, flat);
  const std::vector<torch::Tensor> before = copies_of(module.buffers());
  module.eval();
  const torch::Tensor at_first = trial.outputs(kAll, Numbers::small);
  module.train();
  trial.require_no_draws();
  trial.require_same_alone(Numbers::small);
  trial.require_same_alone(Numbers::large);
  if (!options.row_by_row) require_sites_apart(trial, module, flat);
  require_unchanged(before, module.buffers());
  module.eval();
  trial.require_same_alone(Numbers::small);
  trial.require_same_alone(Numbers::large);
  if (!are_alike(at_first, trial.outputs(kAll, Numbers::small))) {
    throw InputError("network: it remembers the rows it is trained on, which no noise would protect");
  }
}

std::size_t count_layers(const Module& network) {
  std::size_t count = 0;
  for (const auto& module : network.modules()) count += has_own_trained_parameters(*module) ? 1 : 0;
  return count;
}

}  // namespace ration::nn
