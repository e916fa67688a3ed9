// For extensions: may change between minor versions.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ration/base/random.h"
#include "ration/data/rows.h"
#include "ration/objectives/objective.h"

namespace ration {

// A neural network by its name, and the rows it takes. All of it is public.
struct NetworkSpec {
  std::string name;                // "mlp:1000", "cnn:papernot"
  std::vector<std::size_t> input;  // shape of one row: {784}, {1, 28, 28}
  std::size_t classes = 2;         // >= 2
  std::size_t ids_below = 0;       // inputs are tokens below this; 0: they are numbers
};

// Settings that serve a network where the user gives none.
struct NetworkDefaults {
  double rate = 1.0 / 100;        // of a step
  double epochs = 30;             // passes over the rows
  const char* clip = "auto-s";    // the clip rule
  double clip_bound = 1;          // its bound
  const char* step = "momentum";  // and its learning rate
  double lr = 0.5;                // of SGD and momentum
  double adam_lr = 0.002;         // of Adam
  const char* average = "none";   // of the iterates
};

// What a model is computed on. None of it changes what is promised.
struct Hardware {
  std::size_t threads = 0;     // 0: one per processor
  std::string device = "cpu";  // of networks: also "cuda", "cuda:1", ... where libtorch has them
};

// The networks that can be named. They need libtorch and so live in a library of their own, ration_nn, which
// a program that links it makes known by use_networks().
class Networks {
 public:
  virtual ~Networks() = default;

  // In a few words each, for a help text.
  virtual std::vector<std::string> names() const = 0;
  // The name's form alone; whether the network takes rows of a shape is found when it is made.
  virtual bool knows(std::string_view name) const = 0;
  // Settings that serve this network.
  virtual NetworkDefaults usual(std::string_view name) const = 0;
  // Where training begins: drawn without looking at a row. InputError if the network does not take such rows.
  virtual std::vector<double> start(const NetworkSpec& spec, RandomSource& random) const = 0;
  // How many numbers start() draws.
  virtual std::size_t parameters(const NetworkSpec& spec) const = 0;
  // The network's loss on rows. Without `labels` they may be anything, and only predict() has a meaning.
  virtual std::unique_ptr<Objective> objective(const NetworkSpec& spec, std::shared_ptr<const Rows> rows,
                                               const Hardware& hardware, bool labels) const = 0;
  // InputError, with the reason, unless networks can be computed there.
  virtual void require_device(const std::string& device) const = 0;
};

// For the whole process; `networks` must outlive all use. Null: there are none.
void use_networks(const Networks* networks);

// False for the name of a linear model, without asking the library, which may not be loaded yet.
bool is_network(std::string_view model);
// InputError if this program was built without libtorch.
const Networks& networks();
// For help texts; empty if there are none.
std::vector<std::string> network_names();

}  // namespace ration
