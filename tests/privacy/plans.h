#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "privacy/sampled_gaussian.h"
#include "ration/base/error.h"
#include "ration/privacy/accountant.h"
#include "ration/privacy/event.h"
#include "support/generators.h"

// Plans and events that several accounting tests share.
namespace ration::testing {

inline Event poisson_gaussian(double rate, double noise, std::int64_t steps) {
  return Event::repeated(Event::poisson_sampled(rate, Event::gaussian(noise)), steps);
}
inline Event full_gaussian(double noise, std::int64_t steps) {
  return Event::repeated(Event::gaussian(noise), steps);
}
inline Event fixed_gaussian(double rate, double noise, std::int64_t steps) {
  return Event::repeated(Event::fixed_size_sampled(rate, Event::gaussian(noise)), steps);
}

enum class Sampler { full, poisson, fixed };

inline Relation relation_of(Sampler sampler) {
  return sampler == Sampler::fixed ? Relation::replace_one : Relation::add_remove;
}
inline Event event_of(Sampler sampler, double rate, double noise, std::int64_t steps) {
  if (sampler == Sampler::full) return full_gaussian(noise, steps);
  return sampler == Sampler::poisson ? poisson_gaussian(rate, noise, steps)
                                     : fixed_gaussian(rate, noise, steps);
}

// Every pair that privacy allows for Gaussian steps. tCDP's conditions bound rate and noise.
struct Setting {
  Accountant accountant;
  Sampler sampler;
};
inline const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> settings = {
      {Accountant::rdp, Sampler::full},       {Accountant::rdp, Sampler::poisson},
      {Accountant::rdp, Sampler::fixed},      {Accountant::pld, Sampler::full},
      {Accountant::pld, Sampler::poisson},    {Accountant::zcdp, Sampler::full},
      {Accountant::tcdp, Sampler::full},      {Accountant::tcdp, Sampler::fixed},
      {Accountant::gdp, Sampler::full},       {Accountant::gdp, Sampler::poisson},
      {Accountant::advanced, Sampler::full},  {Accountant::advanced, Sampler::poisson},
      {Accountant::advanced, Sampler::fixed}, {Accountant::moments, Sampler::full},
      {Accountant::moments, Sampler::poisson}};
  return settings;
}
inline std::string setting_name(const ::testing::TestParamInfo<Setting>& info) {
  constexpr const char* kSamplers[] = {"Full", "Poisson", "Fixed"};
  return std::string(to_string(info.param.accountant)) + kSamplers[static_cast<int>(info.param.sampler)];
}

// A plan of equal Poisson-sampled steps at the edge of what is supported.
struct Corner {
  double noise;
  double rate;
  std::int64_t steps;
  double delta;
};
inline std::string words(const Corner& c) {
  std::ostringstream out;
  out << "noise " << c.noise << " rate " << c.rate << " steps " << c.steps << " delta " << c.delta;
  return out.str();
}

inline Event event_of(const SampledGaussianPlan& plan) {
  std::vector<Event> parts;
  for (const SampledGaussian& step : plan)
    parts.push_back(poisson_gaussian(step.rate, step.noise, step.count));
  return Event::composed(parts);
}

inline std::int64_t random_count(double low, double high) {
  return static_cast<std::int64_t>(*log_uniform(low, high));
}

// One to three kinds of steps of everyday size.
inline SampledGaussianPlan random_plan() {
  SampledGaussianPlan plan;
  const int kinds = *rc::gen::inRange(1, 4);
  for (int i = 0; i < kinds; ++i) {
    plan.push_back(
        {.rate = *log_uniform(1e-3, 0.5), .noise = *log_uniform(0.6, 8), .count = random_count(2, 2000)});
  }
  return plan;
}

// What InputError says, or "accepted".
inline std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// RapidCheck's default of 100 cases is too slow for distributions; the number of cases is part of each
// property.
template <class Property>
void for_random_cases(int cases, Property property) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = cases;
  params.disableShrinking = true;  // log-uniform numbers shrink to extremes, which are slow and no simpler
  const auto result = rc::detail::checkTestable(property, rc::detail::TestMetadata{}, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream words;
  rc::detail::printResultMessage(result, words);
  GTEST_FAIL() << words.str();
}

}  // namespace ration::testing
