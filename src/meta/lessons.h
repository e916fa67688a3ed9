#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "base/public_random.h"
#include "meta/unroll.h"

namespace ration::meta {

// Tasks that are gone through side by side, each with a random stream of its own, so that the number of
// threads changes nothing.
class Lessons {
 public:
  Lessons(const TaskSource& tasks, std::size_t count, std::uint64_t seed, std::size_t threads)
      : threads_(std::min(threads, count)), inner_threads_(std::max<std::size_t>(1, threads / threads_)) {
    for (std::size_t k = 0; k < count; ++k) lessons_.push_back(std::make_unique<Lesson>(seed + k));
    each([&](Lesson& lesson) {
      lesson.task = tasks(lesson.random);
      lesson.scale = 1 / std::max(1e-12, lesson.task->loss(lesson.task->start()));
    });
  }

  struct Lesson {
    explicit Lesson(std::uint64_t seed) : random(seed) {}

    PublicRandom random;
    std::unique_ptr<Task> task;
    double scale = 1;  // of losses: 1 over where it begins
    Protection protection;
    std::optional<Unroll<float>> unroll;
    ProtectorWeights<float> gradient;
  };

  std::size_t count() const { return lessons_.size(); }
  Lesson& operator[](std::size_t k) { return *lessons_[k]; }

  void begin(const std::function<Protection(const Task&)>& protect, const Unroll<float>::Shape& shape,
             std::size_t kept) {
    for (const auto& lesson : lessons_) lesson->protection = protect(*lesson->task);
    for (const auto& lesson : lessons_)
      lesson->unroll.emplace(*lesson->task, lesson->protection, shape, lesson->random, kept, inner_threads_);
  }

  // work(lesson) for each, at the same time; the first failure is thrown when all are through.
  template <class Work>
  void each(const Work& work) {
    std::vector<std::exception_ptr> failures(lessons_.size());
    for_each_block(lessons_.size(), threads_, [&](std::size_t k) {
      try {
        work(*lessons_[k]);
      } catch (...) {
        failures[k] = std::current_exception();
      }
    });
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

  // The mean of their gradients; those of an unroll that overflowed count as 0.
  std::vector<float> mean(std::vector<float> ProtectorWeights<float>::*part) const {
    std::vector<float> sum((lessons_.front()->gradient.*part).size(), 0.0f);
    const auto share = 1 / static_cast<float>(lessons_.size());
    for (const auto& lesson : lessons_) {
      const std::vector<float>& one = lesson->gradient.*part;
      if (!std::all_of(one.begin(), one.end(), [](float x) { return std::isfinite(x); })) continue;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += share * one[i];
    }
    return sum;
  }

 private:
  std::size_t threads_, inner_threads_;
  std::vector<std::unique_ptr<Lesson>> lessons_;
};

}  // namespace ration::meta
