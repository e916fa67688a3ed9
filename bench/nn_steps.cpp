#include "nn_steps.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <numeric>

#include "methods/gradient_descent.h"
#include "peak_memory.h"
#include "ration/objectives/neural/models.h"
#include "ration/sampling/fixed_size.h"

namespace ration::bench {
namespace {

constexpr std::int64_t kMostSteps = 100'000;
constexpr std::size_t kBatches = 4;  // rows in the table, in batches

struct Work {
  NetworkSpec network;
  std::size_t batch;
};

// The sizes of the table of peers: spec, performance.
Work work_named(const std::string& name) {
  const std::vector<std::size_t> mnist{1, 28, 28};
  if (name == "papernot") return {{"cnn:papernot", mnist, 10}, 512};
  if (name == "mlp1000") return {{"mlp:1000", {784}, 10}, 300};
  if (name == "mlp256x2") return {{"mlp:256,256", {784}, 10}, 300};
  if (name == "blscnn") return {{"cnn:bls", mnist, 10}, 300};
  if (name == "resnet9") return {{"resnet9", {3, 32, 32}, 10}, 64};
  return {{"transformer:small", {64}, 2, 30522}, 64};
}

std::shared_ptr<const Rows> rows_for(const Work& work) {
  std::size_t columns = 1;
  for (const std::size_t size : work.network.input) columns *= size;
  const std::size_t count = kBatches * work.batch;
  std::vector<double> values(count * columns), labels(count);
  std::uint64_t state = 1;
  const auto below = [&state](std::size_t n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>((state >> 33) % n);
  };
  for (double& value : values) {
    value = work.network.ids_below > 0 ? below(work.network.ids_below) : below(1000) / 1000;
  }
  for (double& label : labels) label = below(work.network.classes);
  return std::make_shared<const Rows>(Rows::dense(columns, std::move(values), std::move(labels)));
}

}  // namespace

struct NetworkSteps::Parts {
  Parts(const std::string& name, std::size_t thread_count)
      : work(work_named(name)),
        threads(thread_count),
        rows(rows_for(work)),
        sampler(rows->count(), work.batch) {}

  void prepare_plain() {
    if (optimiser) return;
    nn::use_threads(threads);
    network = nn::make_network(work.network);
    optimiser = std::make_unique<torch::optim::SGD>(network.module->parameters(),
                                                    torch::optim::SGDOptions(0.01).momentum(0.9));
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(work.batch)};
    for (const std::size_t size : work.network.input) shape.push_back(static_cast<std::int64_t>(size));
    x = torch::empty(shape);
    y = torch::empty({static_cast<std::int64_t>(work.batch)}, torch::kLong);
  }

  void prepare_private() {
    if (oracle) return;
    objective = nn::all_networks().objective(work.network, rows, {.threads = threads}, true);
    filter = make_plan_filter(Event::repeated(sampler.sampled(Event::gaussian(1)), kMostSteps),
                              Accountant::rdp, {.epsilon = 1e9, .delta = 1e-6}, Relation::replace_one);
    oracle = std::make_unique<PrivateOracle>(*objective, sampler, *filter, SecureRandom::for_this_thread(),
                                             threads);
    method = make_gradient_descent({.noise = std::vector<double>(kMostSteps, 1.0),
                                    .learning_rate = {.base = 0.01},
                                    .step = {.kind = StepKind::heavy_ball, .in_floats = true},
                                    .start = nn::trained_parameters(*nn::make_network(work.network).module)},
                                   objective->parameters());
  }

  Work work;
  std::size_t threads;
  std::shared_ptr<const Rows> rows;
  nn::Network network;
  FixedSizeSampler sampler;
  Batch batch;
  torch::Tensor x, y;
  std::unique_ptr<torch::optim::SGD> optimiser;
  std::unique_ptr<Objective> objective;
  std::unique_ptr<BudgetFilter> filter;
  std::unique_ptr<PrivateOracle> oracle;
  std::unique_ptr<Method> method;
};

NetworkSteps::NetworkSteps(const std::string& network, std::size_t threads)
    : parts_(std::make_unique<Parts>(network, threads)) {}
NetworkSteps::~NetworkSteps() = default;

void NetworkSteps::plain_step() {
  Parts& p = *parts_;
  p.prepare_plain();
  p.sampler.draw(SecureRandom::for_this_thread(), p.batch);
  float* to = p.x.data_ptr<float>();
  for (std::size_t r = 0; r < p.batch.rows.size(); ++r) {
    for (const double value : p.rows->dense_row(p.batch.rows[r])) *to++ = static_cast<float>(value);
    p.y.data_ptr<std::int64_t>()[r] = static_cast<std::int64_t>(p.rows->labels()[p.batch.rows[r]]);
  }
  p.optimiser->zero_grad();
  torch::cross_entropy_loss(p.network.forward(p.x), p.y).backward();
  p.optimiser->step();
}

void NetworkSteps::private_step() {
  Parts& p = *parts_;
  p.prepare_private();
  if (!p.method->step(*p.oracle)) throw std::runtime_error("no more steps");
}

const std::vector<MeasuredNetwork>& measured_networks() {
  static const std::vector<MeasuredNetwork> all = {{"papernot", 1.20}, {"mlp1000", 1.10},
                                                   {"mlp256x2", 1.15}, {"blscnn", 1.25},
                                                   {"resnet9", 1.30},  {"transformer", 1.30}};
  return all;
}

int print_network_memory(const std::string& which) {
  const std::size_t colon = which.find(':');
  NetworkSteps steps(which.substr(0, colon), 1);
  for (int i = 0; i < 4; ++i) {
    if (which.substr(colon + 1) == "plain") {
      steps.plain_step();
    } else {
      steps.private_step();
    }
  }
  fmt::print("{}\n", peak_bytes());
  return 0;
}

}  // namespace ration::bench
