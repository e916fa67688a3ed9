#pragma once

#include <functional>
#include <string>

#include "privacy/sqlite.h"
#include "ration/privacy/ledger.h"
#include "support/child_process.h"

namespace ration::testing {

constexpr const char* kHash = "0123456789abcdef";

// A ledger with one data set, kHash.
inline std::string new_ledger(const TemporaryFolder& folder, const Budget& total) {
  std::string path = folder.path() + "/budget.db";
  Ledger::open_or_create(path).add({.hash = kHash, .name = "a", .total = total});
  return path;
}

// Past the ledger's own code.
inline sqlite::Database behind_the_scenes(const std::string& path) {
  return {path, sqlite::Database::Open::existing};
}

inline std::string integrity_of(const std::string& path) {
  return behind_the_scenes(path).text("PRAGMA integrity_check");
}

// Empty if nothing was thrown.
template <class Error>
std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace ration::testing
