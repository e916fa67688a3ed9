#pragma once

#include <sqlite3.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ration::sqlite {

// A small part of SQLite with errors as exceptions: InputError for a file that cannot be what was asked for
// (absent, not allowed, not a database, damaged), InternalError for a machine that failed (disk full, locked
// for too long). Every message names the file.

class Database;

class Statement {
 public:
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;

  // Parameters in order, from 1.
  Statement& bind(int position, std::string_view text);
  Statement& bind(int position, std::int64_t number);
  // True if there is a row to look at, false at the end.
  bool step();

  // Columns of the present row, from 0.
  std::string text(int column) const;
  std::int64_t integer(int column) const;

 private:
  friend class Database;
  Statement(const Database& database, sqlite3_stmt* handle) : database_(&database), handle_(handle) {}

  const Database* database_;
  sqlite3_stmt* handle_;
};

// A connection. Durable: a commit is on the disk when it returns (write-ahead log, synchronous=FULL). Waits
// for other processes for `kPatienceInMilliseconds`. Belongs to the process that opened it: in a forked child
// every call throws and the destructor touches nothing, because SQLite's locks do not survive a fork.
class Database {
 public:
  enum class Open {
    existing,
    or_create,
    to_read,  // writes nothing, neither the file nor beside it; what is committed meanwhile may be missed
  };
  static constexpr int kPatienceInMilliseconds = 30'000;

  Database(std::string path, Open open);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Whether this process may write the file and beside it, which an ordinary connection needs.
  static bool can_write(const std::string& path);

  // Switches the file to a write-ahead log, for good. Changes the file, so look at what it is before.
  void use_write_ahead_log();

  void execute(const char* sql);
  Statement prepare(const char* sql);
  // The single integer that a query gives.
  std::int64_t integer(const char* sql);
  std::string text(const char* sql);
  std::int64_t last_row() const { return sqlite3_last_insert_rowid(handle_); }
  int rows_changed() const { return sqlite3_changes(handle_); }

  const std::string& path() const { return path_; }
  bool opened_by_this_process() const;
  [[noreturn]] void fail(int code) const;

 private:
  void require_own() const;
  void connect(int flags);
  void connect_to_read();
  bool connect_to_read_with(const char* parameters);
  [[noreturn]] void fail_to_open(bool has_to_be_there) const;

  std::string path_;
  pid_t owner_;
  bool only_reads_ = false;
  sqlite3* handle_ = nullptr;
};

// Sees the database as it was at its first question, however long it asks. Changes nothing and waits for
// nobody.
class Snapshot {
 public:
  explicit Snapshot(Database& database) : database_(database) { database_.execute("BEGIN"); }
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Database& database_;
};

// Holds the write lock from its first moment, so that what it reads is still so when it writes. Rolled back
// unless committed.
class ImmediateTransaction {
 public:
  explicit ImmediateTransaction(Database& database) : database_(database) {
    database_.execute("BEGIN IMMEDIATE");
  }
  ~ImmediateTransaction();
  ImmediateTransaction(const ImmediateTransaction&) = delete;
  ImmediateTransaction& operator=(const ImmediateTransaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace ration::sqlite
