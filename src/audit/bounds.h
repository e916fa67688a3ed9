#pragma once

#include <cstdint>

namespace ration::audit {

// What counts of right and wrong guesses prove about a mechanism. Each function is a lower bound that exceeds
// the truth with probability at most `failure`, 0 < failure < 1, for guesses whose rule was fixed before they
// were made.

// How often something happened.
struct Frequency {
  std::uint64_t hits = 0;
  std::uint64_t trials = 1;  // >= hits
};

// The bounds on a probability by which a frequency misses it with probability at most `failure`, one at a
// time. [Clopper34]
double probability_at_least(const Frequency& seen, double failure);
double probability_at_most(const Frequency& seen, double failure);

// Of a test that tells a row's presence: how often it says so where the row is, and where it is not.
struct TestResult {
  Frequency caught;
  Frequency alarms;
};

// Of any (epsilon, delta)-DP mechanism: caught <= e^epsilon alarms + delta. [Kairouz15, Thm 2.1]
double epsilon_at_least(const TestResult& seen, double delta, double failure);

// Of a mechanism that is mu-GDP: caught <= Phi(Phi^-1(alarms) + mu). [Dong22, Def. 2.6; Nasr23]
double mu_at_least(const TestResult& seen, double failure);
// The epsilon of the Gaussian mechanism with this mu at delta, rounded down.
double gaussian_epsilon_at_least(double mu, double delta);

// One run in which each of many canaries was present or not by a fair coin of its own.
struct GuessedCoins {
  std::uint64_t canaries = 1;  // that took part
  std::uint64_t guesses = 0;   // on how many of them a guess was ventured
  std::uint64_t right = 0;     // of those
};

// The probability of so many right guesses is at most
//   P[B >= right] + 2 canaries delta max_i P[right > B >= right - i] / i,   B ~ Bin(guesses, 1 / (1 +
//   e^-epsilon)),
// for every (epsilon, delta)-DP mechanism. [Steinke23, Thm 5.2]
double probability_of_guesses(const GuessedCoins& seen, double epsilon, double delta);
// The largest epsilon that this refutes.
double one_run_epsilon_at_least(const GuessedCoins& seen, double delta, double failure);

}  // namespace ration::audit
