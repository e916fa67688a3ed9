#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ration/privacy/ledger.h"

namespace ration::data {

// What a certificate says of its rows, as `data_hash`:
//
//   "hmac-sha256 60303ae22b..."   the ledger's fingerprint of the data (privacy/ledger.h): only who has the
//                                 ledger can tell whether some file is this data
//   "9f86d081884c7d659a2f..."     the SHA-256 of the data (content_hash.h), if somebody asked for it: whoever
//                                 guesses the data, all rows but one being known for example, can check it
//   ""                            nothing: there was no ledger, and nobody asked

// The first of them that holds: what was asked for, what the ledger says (may be null), nothing.
std::string stated_data_hash(const std::string& content_hash, const Ledger* ledger, bool asked_for);

// Whether anybody could check a guess by it.
bool is_plain_data_hash(std::string_view stated);
// The fingerprint alone, as the ledger lists it; empty if it is none.
std::string_view fingerprint_in(std::string_view stated);

// Whether `stated`, a certificate's data_hash, is that of `data`, as --data names it. Reads the files of
// `data`; InputError if they cannot be read. nullopt if nobody can tell: nothing is stated, or the hash needs
// the ledger and `ledger` is null.
//
// For `verify --data FILE [--ledger DB]`: pass `const Ledger db = Ledger::open_to_read(path)`, or null. A
// ledger that is not the run's gives false; whether it is the run's is told by its runs(): the one with the
// certificate's number has the same fingerprint_in().
std::optional<bool> same_data(std::string_view stated, const std::string& data, const Ledger* ledger);

}  // namespace ration::data
