#pragma once

#include <stdexcept>

namespace ration {

// One error channel: a constructor or a boundary that cannot accept what it was given throws. Outcomes a
// caller should expect (a budget that refuses, a search that finds nothing) are return values instead.

// The caller gave something unacceptable. The message says what was expected and what came. (Exit status 1.)
class InputError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Ours or the machine's failure: no entropy, an internal contradiction. (Exit status 3.)
class InternalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A ledger has less left than a run asks for: what the command line turns into exit status 2. The library
// itself answers with an empty std::optional.
class BudgetRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ration
