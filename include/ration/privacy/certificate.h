// Stable: changes only with a new major version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ration/privacy/accountant.h"
#include "ration/privacy/calibrate.h"
#include "ration/privacy/event.h"
#include "ration/privacy/relation.h"
#include "ration/privacy/spending.h"

namespace ration {

// Where a run is written down in a ledger.
struct LedgerEntry {
  std::string file;      // the ledger
  std::int64_t run = 0;  // its number there
  Budget reserved{};     // what was charged before a row was read
};

// A file that a certificate speaks for, beside it in the folder.
struct BoundFile {
  std::string name;    // "model.json"
  std::string sha256;  // of its bytes, in hexadecimal
};

// What is left of the guarantee for a group of rows that come and go together, all of one person perhaps.
struct GroupGuarantee {
  int rows = 0;                   // of the group
  std::optional<double> epsilon;  // rounded up; none if nothing below delta 1 is proven
  double delta = 0;               // the certificate's, or more where that cannot be had
  std::string by;                 // the theorem
};

// What a run promises, for people and for programs. It promises no more than its events prove: verify()
// recomputes it.
struct Certificate {
  double epsilon = 0;                         // what is guaranteed, rounded up
  double delta = 0;                           // what is guaranteed, with epsilon
  Relation relation = Relation::add_remove;   // which tables are neighbours
  std::string unit_of_privacy = "one row";    // what neighbours differ by
  SpendingBy spending_by = SpendingBy::plan;  // what decided how much was spent
  Accountant accountant = Accountant::rdp;    // whose theorem the figures are
  double epsilon_of_events = 0;         // what the listed events add up to; below epsilon if spent by outputs
  std::optional<double> epsilon_lower;  // the truth about the events lies between this and epsilon_of_events
  std::vector<CountedEvent> events;     // every release, equal ones together

  std::vector<std::string> assumed_public;  // "feature bounds, from schema.toml"
  std::vector<std::string> not_covered;     // "accuracy on the training rows (--unsafe-diagnostics)"
  bool secure_random = false;               // false: seeded noise, NOT PRIVATE
  std::string not_private;            // why nothing at all is promised (epsilon is then infinite); or empty
  std::optional<LedgerEntry> ledger;  // none: no ledger kept account of other runs on these rows
  std::string version;                // of the program
  // Which rows: "hmac-sha256 " and the ledger's fingerprint of them (ledger.h); without a ledger empty. If it
  // was asked for, and in certificates of ration 0.2 and before, the SHA-256 of their content.
  std::string data_hash;
  std::string instruction_set;  // that computed it ("avx2"); empty in certificates of ration 0.1

  // What certificates up to ration 0.2 do not have.
  std::optional<Budget> budget;       // what the run was allowed to spend, before a row was read
  std::string date;                   // when it was made, 2026-01-31T12:00:00Z
  std::string data;                   // the data set's name, without its folder; or empty
  std::string model;                  // the model's name, "logistic"; or empty
  std::vector<BoundFile> files;       // model, plan and what the plan names; or the result of an evaluation
  std::vector<std::string> cautions;  // of what holds but protects little
  // What of delta the random numbers may take: the events are accounted at a millionth less of it. None if
  // nothing is kept for them, and in certificates of ration 0.2 and before.
  std::optional<double> sampler_delta;
  double random_words = 0;  // of 64 bits: how many the run takes at most, on average; 0 if not stated
  // What is left for several rows together. Empty where nothing is promised, and in certificates of ration
  // 0.2 and before.
  std::vector<GroupGuarantee> groups;
  // The column that names a unit, if units are protected in place of rows. unit_of_privacy is unit_in_words()
  // of it and of rows_per_unit.
  std::string unit;
  std::int64_t rows_per_unit = 0;  // how many rows of one unit are used at most; 0 without units
};

// "one row", or "one patient_id, with up to 8 rows".
std::string unit_in_words(const std::string& unit, std::int64_t rows_per_unit);

// The certificate of a run that released `released` within `budget`; the caller adds what this cannot know
// (public assumptions, random source, ledger, data hash). A run by its plan is certified for what its events
// cost; a run that chose by its outputs for its whole budget, which is what its filter proves. Throws
// InputError if the accountant cannot certify the events, or the run spent by outputs under an accountant
// that has no filter, or its random words (0: not stated) are too many for so small a delta; InternalError if
// the events cost more than the budget.
Certificate certify(const Event& released, Relation relation, Accountant accountant, const Budget& budget,
                    SpendingBy by, double random_words = 0);

// What stands in a certificate's place when nothing was promised, and says why.
Certificate no_certificate(std::string why, Relation relation, Accountant accountant, double delta);

// One object, indented, ending in a newline. Lossless. InputError if a figure is not finite (but an epsilon
// of what is not private is null). Its keys are append-only, as the kinds of events are (event.h): none is
// renamed, given another meaning, or used again after it was dropped; readers ignore keys they do not know.
std::string to_json(const Certificate& certificate);
// Throws InputError naming the key that is missing or wrong.
Certificate certificate_from_json(std::string_view text);

// For a privacy officer: at most 80 columns.
std::string to_text(const Certificate& certificate);

// What verify() found.
struct Verification {
  double epsilon = 0;                 // recomputed from the events; infinite if no accountant could
  std::vector<std::string> problems;  // empty if the certificate holds

  // Whether it found nothing wrong.
  bool holds() const { return problems.empty(); }
};

// Recomputes the figures from the listed events with the stated accountant. Finds: an epsilon below what the
// events cost, events that do not add up to the stated sum (one was left out, or its noise raised), an
// accountant that cannot certify them, a guarantee that is not the whole budget although the run chose by its
// outputs, a part of delta for the random numbers that is too small for them, a reservation that is smaller
// than the guarantee, a unit that nothing here protects, groups of rows that are promised more than follows,
// and noise from a seed. Figures may differ by one
// part in 1e9, as two builds' last digits do. It sees no file: `ration verify` compares the certificate with
// the run it lies beside, its data, its ledger and its signature.
Verification verify(const Certificate& certificate);

}  // namespace ration
