#include "privacy/event_hash.h"

#include <boost/container_hash/hash.hpp>

namespace ration {

std::size_t EventHash::operator()(const Event& event) const {
  std::size_t seed = event.node().index();
  const auto mix = [&](const auto&... values) { (boost::hash_combine(seed, values), ...); };
  visit(
      event, [](const Event::Nothing&) {}, [&](const Event::Gaussian& e) { mix(e.noise_multiplier); },
      [&](const Event::Laplace& e) { mix(e.scale); }, [&](const Event::PureDp& e) { mix(e.epsilon); },
      [&](const Event::AboveThresholdLaplace& e) { mix(e.threshold_epsilon, e.query_epsilon); },
      [&](const Event::AboveThresholdGaussian& e) { mix(e.threshold_noise, e.query_noise, e.queries); },
      [&](const Event::DiscreteGaussian& e) { mix(e.noise_multiplier); },
      [&](const Event::NoisyMax& e) { mix(e.epsilon); },
      [&](const Event::BoundedRange& e) { mix(e.epsilon); },
      [&](const Event::PoissonSampled& e) { mix(e.rate, (*this)(e.base)); },
      [&](const Event::FixedSizeSampled& e) { mix(e.rate, (*this)(e.base)); },
      [&](const Event::Composed& e) {
        for (const Event& part : e.parts) mix((*this)(part));
      },
      [&](const Event::Repeated& e) { mix((*this)(e.base), e.count); });
  return seed;
}

}  // namespace ration
