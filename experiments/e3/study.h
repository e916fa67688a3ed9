#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ration/data/rows.h"
#include "ration/objectives/network.h"

namespace ration::e3 {

// A network, images to train it on and images to judge it by.
struct Task {
  std::string name;
  NetworkSpec network;
  std::shared_ptr<const Rows> train;
  std::shared_ptr<const Rows> test;
  std::shared_ptr<const Rows> some_test;  // the first 2,000: for the loss
  double learning_rate = 0.2;             // of DP-SGD, as the paper tuned it
  std::int64_t steps = 1000;
  std::int64_t look_every = 20;
};

// `data` is one of named_data.h, such as mnist:DIR.
Task make_task(const std::string& name, const std::string& data, const std::string& network,
               double learning_rate, std::int64_t steps, std::int64_t look_every = 20);

enum class Trainer { line_search, sgd, adam };
std::string_view to_string(Trainer trainer);

// What a run was after so many steps, judged by the test images.
struct Point {
  std::int64_t step = 0;
  double epsilon = 0;  // at kDelta, by Renyi DP
  double accuracy = 0;
  double loss = 0;
  double step_size = 0;  // the mean of those chosen since the last point
};

struct Trace {
  std::string task;
  Trainer trainer = Trainer::sgd;
  bool averaged = false;  // the iterates, exponentially with kMemory, which costs no privacy; or the last one
  std::size_t repeat = 0;
  std::vector<Point> points;
};

inline constexpr double kDelta = 1e-5;
inline constexpr double kRate = 1.0 / 200;
inline constexpr double kNoise = 1;  // of DP-SGD: rho 1/2 for each step before sampling
inline constexpr double kClip = 3;
inline constexpr double kDecay = 0.001;
inline constexpr double kMemory = 0.98;

// All three spend the same rho in each step: DP-SGD and DP-Adam on the gradient, the line search nine tenths
// on the gradient and one on the search. [Chen20, Sec. V-D, V-G] The same run twice: by its last iterates,
// and by their averages.
std::vector<Trace> train(const Task& task, Trainer trainer, std::size_t repeat);

}  // namespace ration::e3
