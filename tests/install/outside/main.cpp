#include <ration/privacy/accountant.h>

#include <cstdio>

int main() {
  using ration::Event;
  const Event run = Event::repeated(Event::poisson_sampled(0.01, Event::gaussian(1.0)), 1000);
  const auto guarantee = ration::account(run, ration::Relation::add_remove, ration::Accountant::rdp, 1e-5);
  std::printf("%s: epsilon %g at delta %g\n", run.describe().c_str(), guarantee.epsilon, guarantee.delta);
  return guarantee.certified && guarantee.epsilon > 0 && guarantee.epsilon < 10 ? 0 : 1;
}
