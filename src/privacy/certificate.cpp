#include "ration/privacy/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/check.h"
#include "base/instruction_set.h"
#include "base/version.h"
#include "privacy/event_json.h"
#include "privacy/group_privacy.h"
#include "privacy/sampler_delta.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kLastDigits = 1e-9;
constexpr double kOrderOfSums = 1e-12;  // the same events in another order; accountants round up by more

// Order does not matter to any accountant, so equal events are counted together, in the order they first
// appear.
std::vector<CountedEvent> merge_equal(const std::vector<CountedEvent>& events) {
  std::map<std::string, std::size_t> place;
  std::vector<CountedEvent> merged;
  for (const CountedEvent& one : events) {
    const auto [at, is_new] = place.emplace(to_json(one.event), merged.size());
    if (is_new) {
      merged.push_back(one);
    } else {
      merged[at->second].count += one.count;
    }
  }
  return merged;
}

Event all_of(const std::vector<CountedEvent>& events) {
  std::vector<Event> parts;
  for (const CountedEvent& one : events) parts.push_back(Event::repeated(one.event, one.count));
  return Event::composed(std::move(parts));
}

bool has_filter(Accountant accountant) {
  return accountant == Accountant::rdp || accountant == Accountant::zcdp || accountant == Accountant::gdp ||
         accountant == Accountant::tcdp;
}

std::string no_filter(Accountant accountant) {
  return fmt::format(
      "the run chose by its outputs, and accountant '{}' is for plans fixed before; use rdp, zcdp, gdp or "
      "tcdp",
      to_string(accountant));
}

std::string not_certified(Accountant accountant) {
  return fmt::format("accountant '{}' only approximates these events, which certifies nothing",
                     to_string(accountant));
}

void check_accountant(const Certificate& certificate, const Guarantee& accounted,
                      std::vector<std::string>& problems) {
  if (!accounted.certified) problems.push_back(not_certified(certificate.accountant));
  if (certificate.spending_by == SpendingBy::outputs && !has_filter(certificate.accountant)) {
    problems.push_back(no_filter(certificate.accountant));
  }
}

void check_epsilon(const Certificate& certificate, double accounted, std::vector<std::string>& problems) {
  if (!(certificate.epsilon >= accounted * (1 - kLastDigits))) {
    problems.push_back(fmt::format("it states epsilon {}, but its events cost {}", show(certificate.epsilon),
                                   show_rounded_up(accounted)));
  }
  if (!(std::abs(certificate.epsilon_of_events - accounted) <= accounted * kLastDigits)) {
    problems.push_back(
        fmt::format("its events are stated to cost {}, but cost {}: one is missing, added or changed",
                    show(certificate.epsilon_of_events), show_rounded_up(accounted)));
  }
}

// A filter proves its budget, not the sum of what it granted: what it granted was chosen by what was seen.
void check_promise(const Certificate& certificate, std::vector<std::string>& problems) {
  if (!certificate.budget) return;
  const Budget& promised = *certificate.budget;
  const bool whole = certificate.epsilon == promised.epsilon && certificate.delta == promised.delta;
  const bool within = certificate.epsilon <= promised.epsilon && certificate.delta <= promised.delta;
  if (certificate.spending_by == SpendingBy::outputs ? whole : within) return;
  problems.push_back(fmt::format("it states epsilon {}, delta {}, but {} its budget of epsilon {}, delta {}",
                                 show(certificate.epsilon), show(certificate.delta),
                                 certificate.spending_by == SpendingBy::outputs
                                     ? "a run that chose by its outputs is certified for"
                                     : "the run was to stay within",
                                 show(promised.epsilon), show(promised.delta)));
}

std::string in_words(const GroupGuarantee& group) {
  if (!group.epsilon) return "nothing";
  return fmt::format("epsilon {}, delta {}", show_rounded_up(*group.epsilon), show_rounded_up(group.delta));
}

void check_unit(const Certificate& certificate, std::vector<std::string>& problems) {
  const std::string known = unit_in_words(certificate.unit, certificate.rows_per_unit);
  if (certificate.unit_of_privacy == known) return;
  problems.push_back(fmt::format("it states that {} is protected, but what ration {} certifies is {}",
                                 certificate.unit_of_privacy, certificate.version, known));
}

// Older certificates say nothing of groups.
void check_groups(const Certificate& certificate, std::vector<std::string>& problems) {
  if (certificate.groups.empty()) return;
  const std::vector<GroupGuarantee> proven = group_guarantees(certificate);
  for (const GroupGuarantee& stated : certificate.groups) {
    const auto same = std::find_if(proven.begin(), proven.end(),
                                   [&](const GroupGuarantee& one) { return one.rows == stated.rows; });
    if (same == proven.end()) {
      problems.push_back(
          fmt::format("it states a guarantee for {} rows, of which nothing is proven here", stated.rows));
    } else if (stated.epsilon && (!same->epsilon || *stated.epsilon < *same->epsilon * (1 - kLastDigits) ||
                                  stated.delta < same->delta * (1 - kLastDigits))) {
      problems.push_back(fmt::format("it states epsilon {}, delta {} for {} rows together, but {} follows",
                                     show(*stated.epsilon), show(stated.delta), stated.rows,
                                     in_words(*same)));
    }
  }
}

void check_ledger(const Certificate& certificate, std::vector<std::string>& problems) {
  if (!certificate.ledger) return;
  const Budget& reserved = certificate.ledger->reserved;
  if (certificate.epsilon <= reserved.epsilon && certificate.delta <= reserved.delta) return;
  problems.push_back(fmt::format("the ledger reserved epsilon {}, delta {}, less than the stated {}, {}",
                                 reserved.epsilon, reserved.delta, certificate.epsilon, certificate.delta));
}

// Older certificates say nothing of it: their sampler reached 9.4 standard deviations, on words of 64 bits.
void check_sampler(const Certificate& certificate, std::vector<std::string>& problems) {
  constexpr double kSmallestOldDelta = 1e-12;
  if (!certificate.sampler_delta) {
    if (certificate.delta > 0 && certificate.delta < kSmallestOldDelta && certificate.random_words == 0) {
      problems.push_back(fmt::format(
          "its delta of {} is below what its random numbers could deliver, and it does not say how many",
          show(certificate.delta)));
    }
    const Budget promised = certificate.budget.value_or(Budget{certificate.epsilon, certificate.delta});
    if (certificate.random_words > 0 && keeps_sampler_part(promised))
      problems.emplace_back("it keeps nothing of delta for its random numbers, but ought to");
    return;
  }
  double events = 0;
  for (const CountedEvent& one : certificate.events) events += static_cast<double>(one.count);
  if (!(certificate.random_words >= events)) {
    problems.push_back(
        fmt::format("it states {} random words, fewer than it has events", show(certificate.random_words)));
  }
  const double needed = sampler_delta(certificate.epsilon, certificate.random_words);
  if (!(*certificate.sampler_delta >= needed * (1 - kLastDigits))) {
    problems.push_back(fmt::format("it keeps {} of delta for its random numbers, which may take {}",
                                   show(*certificate.sampler_delta), show_rounded_up(needed)));
  }
  if (!(*certificate.sampler_delta <= kSamplerPart * certificate.delta)) {
    problems.push_back(fmt::format("its random numbers may take {} of its delta of {}, more than is kept",
                                   show(*certificate.sampler_delta), show(certificate.delta)));
  }
}

double events_delta(const Certificate& certificate) {
  return certificate.sampler_delta ? delta_of_events(certificate.delta) : certificate.delta;
}

}  // namespace

std::string unit_in_words(const std::string& unit, std::int64_t rows_per_unit) {
  if (unit.empty()) return "one row";
  return fmt::format("one {}, with up to {} row{}", unit, rows_per_unit, rows_per_unit == 1 ? "" : "s");
}

Certificate certify(const Event& released, Relation relation, Accountant accountant, const Budget& budget,
                    SpendingBy by, double random_words) {
  Certificate out;
  out.events = merge_equal(flatten(released));
  const bool keeps_a_part = random_words > 0 && keeps_sampler_part(budget);
  if (keeps_a_part) require_deliverable(budget, random_words);
  const double delta = keeps_a_part ? delta_of_events(budget.delta) : budget.delta;
  const Guarantee accounted = account(all_of(out.events), relation, accountant, delta);
  if (!accounted.certified) throw InputError(not_certified(accountant));
  if (by == SpendingBy::outputs && !has_filter(accountant)) throw InputError(no_filter(accountant));
  if (!(accounted.epsilon <= budget.epsilon * (1 + (by == SpendingBy::plan ? kOrderOfSums : kLastDigits)))) {
    throw InternalError(fmt::format("certificate: the events cost epsilon {}, more than the budget of {}",
                                    show_rounded_up(accounted.epsilon), budget.epsilon));
  }
  // What comes to the budget but for the last digits is the budget.
  const bool whole = by == SpendingBy::outputs || accounted.epsilon >= budget.epsilon * (1 - kOrderOfSums);
  out.epsilon = whole ? budget.epsilon : accounted.epsilon;
  out.delta = budget.delta;
  out.budget = budget;
  out.random_words = random_words;
  if (keeps_a_part) out.sampler_delta = sampler_delta(out.epsilon, random_words);
  out.relation = relation;
  out.spending_by = by;
  out.accountant = accountant;
  out.epsilon_of_events = accounted.epsilon;
  out.epsilon_lower = accounted.epsilon_lower;
  out.version = version();
  out.instruction_set = to_string(instruction_set());
  out.groups = group_guarantees(out);
  return out;
}

Certificate no_certificate(std::string why, Relation relation, Accountant accountant, double delta) {
  Certificate out;
  out.epsilon = out.epsilon_of_events = std::numeric_limits<double>::infinity();
  out.delta = delta;
  out.relation = relation;
  out.accountant = accountant;
  out.not_private = std::move(why);
  out.version = version();
  out.instruction_set = to_string(instruction_set());
  return out;
}

Verification verify(const Certificate& certificate) {
  Verification out{.epsilon = std::numeric_limits<double>::infinity(), .problems = {}};
  if (!certificate.not_private.empty()) {
    out.problems.push_back("NOT PRIVATE: " + certificate.not_private);
    return out;
  }
  if (!certificate.secure_random) out.problems.push_back("NOT PRIVATE: its noise came from a seed");
  try {
    const Guarantee accounted = account(all_of(certificate.events), certificate.relation,
                                        certificate.accountant, events_delta(certificate));
    out.epsilon = accounted.epsilon;
    check_accountant(certificate, accounted, out.problems);
    check_epsilon(certificate, accounted.epsilon, out.problems);
    check_groups(certificate, out.problems);
  } catch (const InputError& error) {
    out.problems.push_back(fmt::format("its events cannot be certified: {}", error.what()));
  }
  check_promise(certificate, out.problems);
  check_unit(certificate, out.problems);
  check_sampler(certificate, out.problems);
  check_ledger(certificate, out.problems);
  return out;
}

}  // namespace ration
