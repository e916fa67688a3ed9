#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "base/check.h"
#include "ration/privacy/certificate.h"

namespace ration {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 16;
constexpr std::size_t kMostKinds = 40;  // of events; the JSON lists them all

// Words flowed into lines of at most kWidth, all beginning at the indent. A longer word gets a line of its
// own.
std::string flow(std::string_view words_of) {
  std::istringstream in{std::string(words_of)};
  std::string text;
  std::size_t column = kIndent;
  for (std::string word; in >> word;) {
    const bool first = column == kIndent;
    if (!first && column + 1 + word.size() > kWidth) {
      text += "\n" + std::string(kIndent, ' ');
      column = kIndent;
    } else if (!first) {
      text += " ";
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text;
}

std::string paragraph(std::string_view label, std::string_view words) {
  return fmt::format("{:<{}}{}\n", label, kIndent, flow(words));
}

std::string list(std::string_view label, const std::vector<std::string>& items, std::string_view if_none) {
  if (items.empty()) return paragraph(label, if_none);
  std::string text;
  for (const std::string& item : items) text += paragraph(text.empty() ? label : "", item);
  return text;
}

std::string guarantee(const Certificate& c) {
  return fmt::format("epsilon {}, delta {}", show_rounded_up(c.epsilon), show_rounded_up(c.delta));
}

// e^epsilon, rounded up to two places while that is readable.
std::string factor(double epsilon) {
  if (epsilon > 7) return fmt::format("e^{} times", show_rounded_up(epsilon));
  return fmt::format("{:.2f} times", std::ceil(std::exp(epsilon) * 100) / 100);
}

std::string meaning(const Certificate& c) {
  const char* change = c.relation == Relation::add_remove ? "been left out of the data or added to it"
                                                          : "held different values";
  return fmt::format(
      "The probability of any conclusion drawn from this run's results is at most {} what it would be if {} "
      "had {}, plus {}.",
      factor(c.epsilon),
      c.unit.empty() ? c.unit_of_privacy : fmt::format("one {}, with all its rows,", c.unit), change,
      show_rounded_up(c.delta));
}

std::string limits(const Certificate& c) {
  const std::string several =
      c.unit.empty() ? "several rows" : fmt::format("more than one value of {}", c.unit);
  return fmt::format(
      "This does not mean that nothing can be learned about a person. What is true of people in general can "
      "be learned whether or not a person is in the data. A person with {} is protected less. Other "
      "uses of the same data add to what is stated here.",
      several);
}

// Older certificates say no more than the unit.
std::string protects(const Certificate& c) {
  if (c.groups.empty()) return c.unit_of_privacy;
  return c.unit_of_privacy +
         ", and nothing larger: this is event-level privacy, which \"protects events (or dataset rows), not "
         "individuals\" (NIST SP 800-226)";
}

std::string group_in_words(const GroupGuarantee& group) {
  if (!group.epsilon) return fmt::format("{} rows of one person: nothing is proven", group.rows);
  return fmt::format("{} rows of one person: epsilon {}, delta {}", group.rows,
                     show_rounded_up(*group.epsilon), show_rounded_up(group.delta));
}

// Each with its theorem, unless the next has the same.
std::vector<std::string> groups(const Certificate& c) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < c.groups.size(); ++i) {
    lines.push_back(group_in_words(c.groups[i]));
    const bool last_of_its_kind = i + 1 == c.groups.size() || c.groups[i + 1].by != c.groups[i].by;
    if (last_of_its_kind) lines.push_back("by " + c.groups[i].by);
  }
  return lines;
}

std::string relation_in_words(const Certificate& c) {
  if (!c.unit.empty()) {
    return c.relation == Relation::add_remove
               ? fmt::format(
                     "add_remove: data sets that differ by one added or removed {}, with all its rows, "
                     "however many",
                     c.unit)
               : fmt::format(
                     "replace_one: data sets of as many {} that differ in one of them, with all its "
                     "rows, however many",
                     c.unit);
  }
  return c.relation == Relation::add_remove
             ? "add_remove: data sets that differ by one added or removed row"
             : "replace_one: data sets of the same size that differ in one row";
}

std::string accounting(const Certificate& c) {
  std::string text = fmt::format("accountant {}: all releases together cost epsilon {}",
                                 to_string(c.accountant), show_rounded_up(c.epsilon_of_events));
  if (c.epsilon_lower) text += fmt::format(", and no less than {}", show_rounded_down(*c.epsilon_lower));
  if (c.spending_by == SpendingBy::plan) return text + ". The plan was fixed before the run.";
  return text + ". The run chose its releases along the way, so its whole budget is guaranteed.";
}

std::string sampler_in_words(const Certificate& c) {
  const std::string exact = "every draw has exactly its distribution, given ideal random bits";
  if (!c.sampler_delta) return exact + "; nothing of delta is kept for those of the cipher";
  return fmt::format(
      "{}. Those of the cipher, some {:.1e} words, may take {} of delta, which is kept for them.", exact,
      c.random_words, show_rounded_up(*c.sampler_delta));
}

std::vector<std::string> releases(const std::vector<CountedEvent>& events) {
  std::vector<std::string> lines;
  for (const CountedEvent& one : events) {
    if (lines.size() == kMostKinds) {
      lines.push_back(
          fmt::format("... and {} more kinds; the JSON form lists them all", events.size() - kMostKinds));
      break;
    }
    lines.push_back(fmt::format("{} x {}", one.count, one.event.describe()));
  }
  return lines;
}

std::string ledger_in_words(const std::optional<LedgerEntry>& entry) {
  if (!entry) return "no ledger: other runs on the same data are not counted";
  return fmt::format("{}, run {}, reserved epsilon {}, delta {}", entry->file, entry->run,
                     show_rounded_up(entry->reserved.epsilon), show_rounded_up(entry->reserved.delta));
}

// What the certificate is of. A line that an older certificate has no words for is left out.
std::string binding(const Certificate& c) {
  std::string text;
  const auto line = [&text](std::string_view label, const std::string& value) {
    if (!value.empty()) text += paragraph(label, value);
  };
  line("Data", c.data);
  text += paragraph("Data hash", c.data_hash.empty() ? "unknown" : c.data_hash);
  line("Model", c.model);
  std::vector<std::string> files;
  for (const BoundFile& file : c.files) files.push_back(fmt::format("{} {}", file.name, file.sha256));
  if (!files.empty()) text += list("Files, SHA-256", files, "");
  line("Made", c.date);
  return text;
}

std::string program(const Certificate& c) {
  return fmt::format("ration {}", c.version) +
         (c.instruction_set.empty() ? "" : fmt::format(" ({})", c.instruction_set));
}

constexpr const char* kNotPrivate =
    "NOT PRIVATE: the noise came from a seed. Anyone who knows or guesses the seed\n"
    "can remove it. Nothing below holds. Such a run is for tests only.\n\n";

}  // namespace

std::string to_text(const Certificate& c) {
  if (!c.not_private.empty()) {
    return "NO CERTIFICATE\n==============\n\n" + paragraph("NOT PRIVATE", c.not_private) + "\n" +
           binding(c) + paragraph("Version", program(c));
  }
  std::string text = "PRIVACY CERTIFICATE\n===================\n\n";
  if (!c.secure_random) text += kNotPrivate;
  text += paragraph("Guarantee", guarantee(c)) + "\n";
  text += paragraph("Meaning", meaning(c)) + "\n";
  text += paragraph("Limits", limits(c)) + "\n";
  if (!c.cautions.empty()) text += list("CAUTION", c.cautions, "") + "\n";
  text += paragraph("Protects", protects(c));
  text += paragraph("Neighbours", relation_in_words(c));
  if (!c.groups.empty()) text += list("Several rows", groups(c), "");
  text += paragraph("Accounting", accounting(c)) + "\n";
  text += list("Releases", releases(c.events), "none") + "\n";
  text += list("Assumed public", c.assumed_public, "nothing");
  text += list("Not covered", c.not_covered, "nothing listed") + "\n";
  text += paragraph("Random source", c.secure_random ? "secure (cryptographic, keyed by the operating system)"
                                                     : "NOT PRIVATE: seeded noise");
  if (c.random_words > 0) text += paragraph("Sampler", sampler_in_words(c));
  if (c.budget) {
    text += paragraph("Budget", fmt::format("epsilon {}, delta {}", show_rounded_up(c.budget->epsilon),
                                            show_rounded_up(c.budget->delta)));
  }
  text += paragraph("Ledger", ledger_in_words(c.ledger));
  text += binding(c);
  text += paragraph("Version", program(c));
  return text;
}

}  // namespace ration
