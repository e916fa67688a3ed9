#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ration::bench {

// Two ways to take a training step with one network on the same made-up rows: as libtorch does it, and
// privately. The layers and the kernels are the same; only the private one clips, adds noise and keeps a
// budget.
class NetworkSteps {
 public:
  // "papernot", "mlp1000", "mlp256x2", "blscnn", "resnet9", "transformer".
  NetworkSteps(const std::string& network, std::size_t threads);
  ~NetworkSteps();

  // Gathers a batch, forward, backward, SGD with momentum.
  void plain_step();
  // Draws a batch, clips by auto-s, adds noise, SGD with momentum, through the oracle.
  void private_step();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

struct MeasuredNetwork {
  std::string name;
  double most_ratio;  // of a private step's time to a plain one's
};
const std::vector<MeasuredNetwork>& measured_networks();

// Takes a few steps of one kind and prints the peak memory of the process in bytes: what `ration_bench
// --nn-memory=NAME:plain` does, in a process of its own.
int print_network_memory(const std::string& which);

}  // namespace ration::bench
