// Stable: changes only with a new major version.
#pragma once

#include <stdexcept>

namespace ration {

// What this library throws: the three kinds below, and whatever the standard library throws when memory ends.
// An outcome that a caller should expect (a query that the budget refuses, a search that finds nothing) is a
// return value. The library never prints and never exits; a message is one line that says what was expected,
// what came, and where.
//
//   who                                InputError   BudgetRefused   InternalError
//   resolve, fit, train, resume_run    yes          yes             yes
//   read_table, read_schema, ...       yes          -               yes
//   Ledger                             yes          - (nullopt)     yes
//   account, calibrate, certify        yes          -               certify
//   PrivateOracle, BudgetFilter        yes          - (nullopt)     yes
//   RandomSource                       -            -               yes

// The caller gave something unacceptable: a value outside its bounds, a file that breaks a rule, a
// combination that no theorem covers. Thrown by constructors and by functions that read, before anything is
// spent; mend what the message names and call again. (Exit status 1 of the command line.)
class InputError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// The machine failed or this library did: no entropy, a full disk, an internal contradiction. What was
// charged stays charged. (Exit status 3.)
class InternalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A whole run does not fit what is left: its plan costs more than its budget, or the ledger has less left
// than it asks for. Thrown by resolve(), fit(), train() and resume_run(), before a row is read.
// Ledger::reserve() and the oracle's queries answer with an empty std::optional instead. (Exit status 2.)
class BudgetRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ration
