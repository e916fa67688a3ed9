#pragma once

#include <span>
#include <string_view>

#include "ration/train/plan.h"

namespace ration {

// A setting that belongs to some values of a choice: `gamma` to the schedules made from a condition number.
struct PartOfChoice {
  std::string_view key;
  std::string_view choice;                   // a key of a plan too
  std::span<const std::string_view> values;  // of the choice
};

// All of them, by the names of plan keys. A new one needs its line here.
std::span<const PartOfChoice> parts_of_choices();

// Throws InputError for a setting that differs from its default although another value was chosen: it would
// be written into plan.toml and change nothing. Expects that no choice is left open.
void refuse_parts_of_other_choices(const Plan& plan);

}  // namespace ration
