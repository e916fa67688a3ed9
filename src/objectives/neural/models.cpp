#include "ration/objectives/neural/models.h"

#include <fmt/format.h>
#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/container/functional.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/utils.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/distributions.h"
#include "ration/base/error.h"
#include "ration/objectives/neural/layers.h"

namespace ration::nn {
namespace {

using torch::Tensor;
using torch::nn::Conv2dOptions;
using torch::nn::Functional;
using torch::nn::Sequential;

// --- names

// "mlp:256,256:tanh" -> "mlp", "256,256", "tanh"
std::vector<std::string> parts_of(std::string_view name, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : name) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::optional<std::int64_t> read_size(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::int64_t kLargest = 1 << 20;
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kLargest)
    return std::nullopt;
  return value;
}

// Nothing if one of them is no size.
std::optional<std::vector<std::int64_t>> read_sizes(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& part : parts_of(text, ',')) {
    const auto size = read_size(part);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

using Activation = Tensor (*)(const Tensor&);

Tensor mish(const Tensor& x) {
  return torch::mish(x);
}

std::optional<Activation> activation_named(const std::string& name) {
  if (name == "relu") return torch::relu;
  if (name == "tanh") return torch::tanh;
  if (name == "sigmoid") return torch::sigmoid;
  return std::nullopt;
}

// --- rows

std::int64_t count(std::size_t value) {
  return static_cast<std::int64_t>(value);
}

std::int64_t inputs_of(const NetworkSpec& spec) {
  std::int64_t product = 1;
  for (const std::size_t size : spec.input) product *= count(size);
  return product;
}

struct ImageSize {
  std::int64_t channels, height, width;
};

ImageSize image_of(const NetworkSpec& spec, std::int64_t smallest) {
  if (spec.input.size() == 3 && count(spec.input[1]) >= smallest && count(spec.input[2]) >= smallest) {
    return {count(spec.input[0]), count(spec.input[1]), count(spec.input[2])};
  }
  throw InputError(
      fmt::format("model: {} is for images of at least {} x {} pixels", spec.name, smallest, smallest));
}

void require_text(const NetworkSpec& spec) {
  if (spec.ids_below > 0 && spec.input.size() == 1) return;
  throw InputError(fmt::format("model: {} is for texts: data such as text:FILE", spec.name));
}

// --- networks

Network make_mlp(const NetworkSpec& spec, const std::vector<std::int64_t>& widths, Activation activation) {
  Sequential net;
  if (spec.input.size() > 1) net->push_back(torch::nn::Flatten());
  std::int64_t inputs = inputs_of(spec);
  for (const std::int64_t width : widths) {
    net->push_back(Linear(inputs, width));
    net->push_back(Functional(activation));
    inputs = width;
  }
  net->push_back(Linear(inputs, count(spec.classes)));
  return net;
}

Functional pool(std::int64_t size, std::int64_t stride) {
  return Functional([=](const Tensor& x) { return torch::max_pool2d(x, size, stride); });
}

// How many numbers come out of the layers so far.
std::int64_t outputs_of(Sequential& net, const ImageSize& image) {
  const torch::NoGradGuard no_gradient;
  return net->forward(torch::zeros({1, image.channels, image.height, image.width})).numel();
}

Network with_units(Sequential net, const ImageSize& image, const std::vector<std::int64_t>& widths,
                   Activation activation, std::size_t classes) {
  std::int64_t inputs = outputs_of(net, image);
  net->push_back(torch::nn::Flatten());
  for (const std::int64_t width : widths) {
    net->push_back(Linear(inputs, width));
    net->push_back(Functional(activation));
    inputs = width;
  }
  net->push_back(Linear(inputs, count(classes)));
  return net;
}

Network make_papernot(const NetworkSpec& spec) {
  const ImageSize image = image_of(spec, 16);
  Sequential net(Conv2d(Conv2dOptions(image.channels, 16, 8).stride(2).padding(3)), Functional(torch::tanh),
                 pool(2, 1), Conv2d(Conv2dOptions(16, 32, 4).stride(2)), Functional(torch::tanh), pool(2, 1));
  return with_units(net, image, {32}, torch::tanh, spec.classes);
}

Network make_bls(const NetworkSpec& spec) {
  const ImageSize image = image_of(spec, 16);
  Sequential net(Conv2d(Conv2dOptions(image.channels, 6, 5).padding(2)), Functional(torch::relu), pool(2, 2),
                 Conv2d(Conv2dOptions(6, 16, 5)), Functional(torch::relu), pool(2, 2));
  return with_units(net, image, {256, 128}, torch::relu, spec.classes);
}

Network make_bls_cifar(const NetworkSpec& spec) {
  const ImageSize image = image_of(spec, 16);
  Sequential net;
  std::int64_t inputs = image.channels;
  const auto convolve = [&](std::int64_t outputs) {
    net->push_back(Conv2d(Conv2dOptions(inputs, outputs, 3).padding(1)));
    net->push_back(Functional(torch::relu));
    inputs = outputs;
  };
  for (const std::vector<std::int64_t>& stage : {std::vector<std::int64_t>{32, 64}, {128, 128}, {256, 256}}) {
    for (const std::int64_t outputs : stage) convolve(outputs);
    net->push_back(pool(2, 2));
  }
  return with_units(net, image, {4096, 1024, 512}, torch::relu, spec.classes);
}

constexpr std::int64_t kChannelsOfGroup = 16;

Sequential convolution_block(std::int64_t inputs, std::int64_t outputs, bool halve) {
  Sequential block(Conv2d(Conv2dOptions(inputs, outputs, 3).padding(1)),
                   GroupNorm(std::max<std::int64_t>(1, outputs / kChannelsOfGroup), outputs),
                   Functional(mish));
  if (halve) block->push_back(pool(2, 2));
  return block;
}

struct ResidualImpl : torch::nn::Module {
  explicit ResidualImpl(std::int64_t channels)
      : first(register_module("first", convolution_block(channels, channels, false))),
        second(register_module("second", convolution_block(channels, channels, false))) {}
  Tensor forward(const Tensor& x) { return x + second->forward(first->forward(x)); }
  Sequential first;
  Sequential second;
};
TORCH_MODULE(Residual);

struct ResNet9Impl : torch::nn::Module {
  ResNet9Impl(std::int64_t channels, std::int64_t width, std::int64_t classes)
      : stem(register_module("stem", convolution_block(channels, width, false))),
        down1(register_module("down1", convolution_block(width, 2 * width, true))),
        block1(register_module("block1", Residual(2 * width))),
        down2(register_module("down2", convolution_block(2 * width, 4 * width, true))),
        down3(register_module("down3", convolution_block(4 * width, 4 * width, true))),
        block2(register_module("block2", Residual(4 * width))),
        out(register_module("out", Linear(4 * width, classes))) {}
  Tensor forward(const Tensor& x) {
    Tensor y = block1(down1->forward(stem->forward(x)));
    y = block2(down3->forward(down2->forward(y)));
    return out(torch::amax(y, {2, 3}));
  }
  Sequential stem, down1;
  Residual block1{nullptr};
  Sequential down2, down3;
  Residual block2{nullptr};
  Linear out{nullptr};
};
TORCH_MODULE(ResNet9);

// Before each part its norm, as trains best without warm-up.
struct EncoderLayerImpl : torch::nn::Module {
  EncoderLayerImpl(std::int64_t width, std::int64_t heads)
      : norm1(register_module("norm1", LayerNorm(torch::nn::LayerNormOptions({width})))),
        attention(register_module("attention", MultiheadAttention(width, heads))),
        norm2(register_module("norm2", LayerNorm(torch::nn::LayerNormOptions({width})))),
        up(register_module("up", Linear(width, 4 * width))),
        down(register_module("down", Linear(4 * width, width))) {}
  Tensor forward(const Tensor& x, const Tensor& padding) {
    const Tensor y = x + attention(norm1(x), padding);
    return y + down(torch::gelu(up(norm2(y))));
  }
  LayerNorm norm1{nullptr};
  MultiheadAttention attention{nullptr};
  LayerNorm norm2{nullptr};
  Linear up{nullptr};
  Linear down{nullptr};
};
TORCH_MODULE(EncoderLayer);

// The mean over what is no padding; zero if there is nothing.
Tensor mean_of_words(const Tensor& x, const Tensor& padding) {
  const Tensor present = (~padding).to(torch::kFloat).unsqueeze(2);
  return (x * present).sum(1) / present.sum(1).clamp_min(1);
}

struct TransformerImpl : torch::nn::Module {
  TransformerImpl(const NetworkSpec& spec, std::int64_t depth, std::int64_t width, std::int64_t heads)
      : embedding(register_module("embedding", Embedding(count(spec.ids_below), width))),
        places(register_module("places", Bias(std::vector<std::int64_t>{count(spec.input[0]), width}))),
        layers(register_module("layers", torch::nn::ModuleList())),
        norm(register_module("norm", LayerNorm(torch::nn::LayerNormOptions({width})))),
        out(register_module("out", Linear(width, count(spec.classes)))) {
    for (std::int64_t i = 0; i < depth; ++i) layers->push_back(EncoderLayer(width, heads));
  }
  Tensor forward(const Tensor& ids) {
    const Tensor padding = ids == 0;
    Tensor x = places(embedding(ids));
    for (const auto& layer : *layers) x = layer->as<EncoderLayerImpl>()->forward(x, padding);
    return out(mean_of_words(norm(x), padding));
  }
  Embedding embedding{nullptr};
  Bias places{nullptr};
  torch::nn::ModuleList layers{nullptr};
  LayerNorm norm{nullptr};
  Linear out{nullptr};
};
TORCH_MODULE(Transformer);

struct BagImpl : torch::nn::Module {
  BagImpl(const NetworkSpec& spec, std::int64_t width)
      : embedding(register_module("embedding", Embedding(count(spec.ids_below), width))),
        out(register_module("out", Linear(width, count(spec.classes)))) {}
  Tensor forward(const Tensor& ids) { return out(mean_of_words(embedding(ids), ids == 0)); }
  Embedding embedding{nullptr};
  Linear out{nullptr};
};
TORCH_MODULE(Bag);

// --- from a name to a network

struct Family {
  const char* name;
  const char* form;  // in a help text
  Network (*make)(const NetworkSpec&, const std::vector<std::string>& rest);
  // Whether what follows the name makes sense; `make` is asked only then.
  bool (*accepts)(const std::vector<std::string>& rest);
  NetworkDefaults usual{};
};

bool one_of_sizes(const std::vector<std::string>& rest) {
  return rest.size() == 1 && read_size(rest[0]);
}

constexpr const char* kSmall = "small";

struct TransformerSize {
  std::int64_t depth = 2, width = 128, heads = 4;
};

std::optional<TransformerSize> transformer_size(const std::vector<std::string>& rest) {
  if (rest.size() != 1) return std::nullopt;
  if (rest[0] == kSmall) return TransformerSize{};
  const auto sizes = read_sizes(rest[0]);
  if (!sizes || sizes->size() != 3 || (*sizes)[1] % (*sizes)[2] != 0) return std::nullopt;
  return TransformerSize{(*sizes)[0], (*sizes)[1], (*sizes)[2]};
}

// On tables auto-s, and tight bounds, leave models that are far too sure: a row that is hard to tell counts
// no more than one that is easy. Compared on a made-up census at epsilon 1.
constexpr NetworkDefaults kForTables{.epochs = 10, .clip = "abadi", .clip_bound = 5, .lr = 0.1};
// Large batches, long steps, and the average of the iterates to take their noise out again. Compared on the
// test images of MNIST and Fashion-MNIST at epsilon 3 (docs/results/e4.md).
constexpr NetworkDefaults kForImages{.rate = 1.0 / 30, .epochs = 40, .lr = 4, .average = "exponential"};
constexpr NetworkDefaults kForTexts{.rate = 1.0 / 20, .epochs = 30, .step = "adam", .lr = 0.002};
// Most words of a vocabulary are in few texts, and Adam makes their noise as large as the others' signal.
// Compared on the development sentences of SST-2 at epsilon 3 and 8.
constexpr NetworkDefaults kForBags{.rate = 1.0 / 5, .epochs = 40, .lr = 20};

const std::vector<Family>& families() {
  using Rest = std::vector<std::string>;
  static const std::vector<Family> all = {
      {"mlp", "mlp:WIDTH,...",
       [](const NetworkSpec& spec, const Rest& rest) -> Network {
         return make_mlp(spec, *read_sizes(rest[0]),
                         rest.size() == 2 ? *activation_named(rest[1]) : torch::relu);
       },
       [](const Rest& rest) {
         return (rest.size() == 1 || (rest.size() == 2 && activation_named(rest[1]))) && read_sizes(rest[0]);
       },
       kForTables},
      {"cnn", "cnn:papernot|bls|bls-cifar",
       [](const NetworkSpec& spec, const Rest& rest) -> Network {
         if (rest[0] == "papernot") return make_papernot(spec);
         return rest[0] == "bls" ? make_bls(spec) : make_bls_cifar(spec);
       },
       [](const Rest& rest) {
         return rest.size() == 1 && (rest[0] == "papernot" || rest[0] == "bls" || rest[0] == "bls-cifar");
       },
       kForImages},
      {"resnet9", "resnet9[:WIDTH]",
       [](const NetworkSpec& spec, const Rest& rest) -> Network {
         const ImageSize image = image_of(spec, 16);
         return ResNet9(image.channels, rest.empty() ? 64 : *read_size(rest[0]), count(spec.classes));
       },
       [](const Rest& rest) { return rest.empty() || one_of_sizes(rest); }},
      {"transformer", "transformer:small|LAYERS,WIDTH,HEADS",
       [](const NetworkSpec& spec, const Rest& rest) -> Network {
         require_text(spec);
         const TransformerSize size = *transformer_size(rest);
         return Transformer(spec, size.depth, size.width, size.heads);
       },
       [](const Rest& rest) { return transformer_size(rest).has_value(); }, kForTexts},
      {"bag", "bag:WIDTH",
       [](const NetworkSpec& spec, const Rest& rest) -> Network {
         require_text(spec);
         return Bag(spec, *read_size(rest[0]));
       },
       one_of_sizes, kForBags},
  };
  return all;
}

struct Parsed {
  const Family* family = nullptr;
  std::vector<std::string> rest;
};

std::optional<Parsed> parse(std::string_view name) {
  std::vector<std::string> parts = parts_of(name, ':');
  for (const Family& family : families()) {
    if (parts[0] != family.name) continue;
    Parsed parsed{&family, {parts.begin() + 1, parts.end()}};
    if (family.accepts(parsed.rest)) return parsed;
  }
  return std::nullopt;
}

// --- where training begins

void draw_uniform(Tensor tensor, double within, RandomSource& random) {
  float* const values = tensor.data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    values[i] = static_cast<float>(within * (2 * uniform(random) - 1));
}

void draw_gaussian(Tensor tensor, double stddev, RandomSource& random) {
  std::vector<double> values(static_cast<std::size_t>(tensor.numel()));
  fill_gaussian(random, values, stddev);
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
}

// Weight outputs x inputs x ..., as Linear and convolutions have it.
void draw_layer(Tensor weight, const Tensor& bias, RandomSource& random) {
  const double within = 1 / std::sqrt(static_cast<double>(weight[0].numel()));
  draw_uniform(std::move(weight), within, random);
  if (bias.defined()) draw_uniform(bias, within, random);
}

NeuralOptions options_for(const NetworkSpec& spec) {
  NeuralOptions options{.input = {}, .classes = spec.classes, .ids_below = count(spec.ids_below)};
  for (const std::size_t size : spec.input) options.input.push_back(count(size));
  return options;
}

class AllNetworks final : public Networks {
 public:
  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const Family& family : families()) out.emplace_back(family.form);
    return out;
  }
  bool knows(std::string_view name) const override { return parse(name).has_value(); }
  NetworkDefaults usual(std::string_view name) const override {
    const auto parsed = parse(name);
    return parsed ? parsed->family->usual : NetworkDefaults{};
  }
  std::vector<double> start(const NetworkSpec& spec, RandomSource& random) const override {
    const Network network = make_network(spec);
    initialise(*network.module, random);
    return trained_parameters(*network.module);
  }
  std::size_t parameters(const NetworkSpec& spec) const override {
    return trained_parameters(*make_network(spec).module).size();
  }
  std::unique_ptr<Objective> objective(const NetworkSpec& spec, std::shared_ptr<const Rows> rows,
                                       const Hardware& hardware, bool labels) const override {
    NeuralOptions options = options_for(spec);
    options.threads = hardware.threads;
    options.device = hardware.device;
    options.labels = labels;
    return make_neural(make_network(spec), std::move(rows), options);
  }
  void require_device(const std::string& device) const override { nn::require_device(device); }
};

}  // namespace

Network make_network(const NetworkSpec& spec) {
  const auto parsed = parse(spec.name);
  if (!parsed) throw InputError(fmt::format("model: no network is called '{}'", spec.name));
  return parsed->family->make(spec, parsed->rest);
}

void initialise(torch::nn::Module& network, RandomSource& random) {
  const torch::NoGradGuard no_gradient;
  for (const auto& module : network.modules()) {
    if (const auto* linear = module->as<LinearImpl>()) {
      draw_layer(linear->weight, linear->bias, random);
    } else if (const auto* conv1 = module->as<Conv1dImpl>()) {
      draw_layer(conv1->weight, conv1->bias, random);
    } else if (const auto* conv2 = module->as<Conv2dImpl>()) {
      draw_layer(conv2->weight, conv2->bias, random);
    } else if (const auto* embedding = module->as<EmbeddingImpl>()) {
      draw_gaussian(embedding->weight, 1 / std::sqrt(static_cast<double>(embedding->weight.size(1))), random);
    }
  }
}

const Networks& all_networks() {
  static const AllNetworks all;
  return all;
}

}  // namespace ration::nn
