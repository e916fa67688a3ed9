#pragma once

#include <string>
#include <utility>

#include "ration/base/error.h"

namespace ration::data {

// Part of an error whose message ends in advice on the schema, for callers whose schema is fixed.
class Advised {
 public:
  explicit Advised(std::string without_advice) : without_advice_(std::move(without_advice)) {}
  const std::string& without_advice() const { return without_advice_; }

 private:
  std::string without_advice_;
};

// What is said of the file alone; the whole message if it has no advice.
inline std::string without_advice(const InputError& error) {
  const auto* const advised = dynamic_cast<const Advised*>(&error);
  return advised != nullptr ? advised->without_advice() : error.what();
}

// An error of kind `Error`, with advice.
template <class Error>
class With : public Error, public Advised {
 public:
  With(const std::string& message, std::string without_advice)
      : Error(message), Advised(std::move(without_advice)) {}
};

}  // namespace ration::data
