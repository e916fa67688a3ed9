#include "privacy/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/quote.h"
#include "ration/base/error.h"

namespace ration::sqlite {
namespace {

std::string why_it_cannot_open(const std::string& path, bool only_reads) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return "it is a folder";
  if (access(path.c_str(), F_OK) != 0) return std::strerror(errno);
  if (access(path.c_str(), R_OK | (only_reads ? 0 : W_OK)) != 0) return std::strerror(errno);
  return "its folder does not allow the files that must lie beside it";
}

bool is_allowed_to_write(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

// Of a ledger that has to be there.
std::string advice_on_opening(const std::string& path) {
  return access(path.c_str(), F_OK) != 0 && errno == ENOENT ? "; create it with 'ration ledger init'" : "";
}

// Every character that could mean something in a URI as %XX.
std::string as_uri(const std::string& path, const char* parameters) {
  std::string uri = "file:";
  for (const char c : path) {
    const auto code = static_cast<unsigned char>(c);
    const bool plain = (code < 0x80 && std::isalnum(code) != 0) || c == '.' || c == '_' || c == '-';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", code);
  }
  return uri + "?" + parameters;
}

bool has_content(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return !error && size > 0;
}

}  // namespace

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), handle_(std::exchange(other.handle_, nullptr)) {}

Statement& Statement::bind(int position, std::string_view text) {
  const int size = static_cast<int>(text.size());
  const int code = sqlite3_bind_text(handle_, position, text.data(), size, SQLITE_TRANSIENT);
  if (code != SQLITE_OK) database_->fail(code);
  return *this;
}

Statement& Statement::bind(int position, std::int64_t number) {
  const int code = sqlite3_bind_int64(handle_, position, number);
  if (code != SQLITE_OK) database_->fail(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_->fail(code);
  return code == SQLITE_ROW;
}

std::string Statement::text(int column) const {
  const auto* const begin = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (begin == nullptr) return "";
  return {begin, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_, column);
}

bool Database::can_write(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return is_allowed_to_write(path) && is_allowed_to_write(folder.empty() ? "." : folder.string());
}

Database::Database(std::string path, Open open)
    : path_(std::move(path)), owner_(getpid()), only_reads_(open == Open::to_read) {
  if (only_reads_) {
    connect_to_read();
  } else {
    connect(SQLITE_OPEN_READWRITE | (open == Open::or_create ? SQLITE_OPEN_CREATE : 0));
  }
}

Database::~Database() {
  // In a forked child, closing would let go of the parent's locks or remove its log: leave the copy alone.
  if (opened_by_this_process()) sqlite3_close_v2(handle_);
}

void Database::connect(int flags) {
  const int code = sqlite3_open_v2(path_.c_str(), &handle_, flags, nullptr);
  if (code == SQLITE_OK) {
    sqlite3_extended_result_codes(handle_, 1);
    sqlite3_busy_timeout(handle_, kPatienceInMilliseconds);
    return;
  }
  sqlite3_close_v2(std::exchange(handle_, nullptr));
  fail_to_open((flags & SQLITE_OPEN_CREATE) == 0);
}

void Database::fail_to_open(bool has_to_be_there) const {
  throw InputError(fmt::format("{}: cannot open the ledger: {}{}", path_,
                               why_it_cannot_open(path_, only_reads_),
                               has_to_be_there ? advice_on_opening(path_) : ""));
}

// A write-ahead log is read through an index that all connections share in a file, "-shm". Where that file
// is, a connection that may not write can read the log too. Where it is not and the log is empty, all there
// is stands in the file itself, which then can be read as one that nobody changes ("immutable").
// [https://www.sqlite.org/wal.html, "Read-Only Databases"]
void Database::connect_to_read() {
  const std::string log = path_ + "-wal";
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored))
    throw InputError(fmt::format("{}: cannot open the ledger: it is a folder", path_));
  const bool logged = has_content(log);
  if ((logged || std::filesystem::exists(path_ + "-shm", ignored)) && connect_to_read_with("mode=ro")) return;
  if (logged) {
    throw InputError(
        fmt::format("{}: cannot read the ledger here: {} holds entries that are not in it yet, and "
                    "they can be read only where the folder may be written; copy both files to "
                    "such a folder",
                    path_, log));
  }
  if (connect_to_read_with("mode=ro&immutable=1")) return;
  fail_to_open(true);
}

// False if SQLite would have to write in order to read.
bool Database::connect_to_read_with(const char* parameters) {
  const std::string uri = as_uri(path_, parameters);
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  if (sqlite3_open_v2(uri.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    sqlite3_close_v2(std::exchange(handle_, nullptr));
    fail_to_open(true);
  }
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, kPatienceInMilliseconds);
  const int code =
      sqlite3_exec(handle_, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) & 0xff;
  if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY && code != SQLITE_PERM) return true;
  sqlite3_close_v2(std::exchange(handle_, nullptr));
  return false;
}

// SQLite does not wait for others in this one statement, so we do.
void Database::use_write_ahead_log() {
  using Clock = std::chrono::steady_clock;
  const auto patience = Clock::now() + std::chrono::milliseconds(kPatienceInMilliseconds);
  for (;;) {
    const int code = sqlite3_exec(handle_, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) break;
    if ((code & 0xff) != SQLITE_BUSY || Clock::now() > patience) fail(code);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  execute("PRAGMA synchronous = FULL");
  execute("PRAGMA foreign_keys = ON");
}

bool Database::opened_by_this_process() const {
  return owner_ == getpid();
}

void Database::require_own() const {
  if (opened_by_this_process()) return;
  throw InternalError(
      fmt::format("{}: the ledger was opened before a fork; open it again in the child", path_));
}

void Database::execute(const char* sql) {
  require_own();
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

Statement Database::prepare(const char* sql) {
  require_own();
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  return {*this, statement};
}

std::int64_t Database::integer(const char* sql) {
  Statement query = prepare(sql);
  return query.step() ? query.integer(0) : 0;
}

std::string Database::text(const char* sql) {
  Statement query = prepare(sql);
  return query.step() ? query.text(0) : "";
}

void Database::fail(int code) const {
  const std::string reason = sqlite3_errmsg(handle_);
  if (code == SQLITE_IOERR_SHORT_READ)
    throw InputError(fmt::format("{}: the ledger is damaged: it is cut off; restore it from a copy", path_));
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      throw InputError(fmt::format("{}: not a ledger: it is no SQLite file", path_));
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // our statements are right, so the file lacks a table or a column that they name
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_SCHEMA:
    case SQLITE_FORMAT:
      throw InputError(fmt::format("{}: the ledger is damaged ({}); restore it from a copy", path_,
                                   one_short_line(reason)));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      throw InputError(fmt::format("{}: cannot {} the ledger: {}", path_, only_reads_ ? "read" : "write",
                                   why_it_cannot_open(path_, only_reads_)));
    case SQLITE_FULL:
      throw InternalError(fmt::format("{}: cannot write the ledger: the disk is full", path_));
    case SQLITE_BUSY:
      throw InternalError(fmt::format("{}: the ledger is in use by another process; try again", path_));
    default:
      throw InternalError(fmt::format("{}: cannot use the ledger: {}", path_, one_short_line(reason)));
  }
}

Snapshot::~Snapshot() {
  try {
    database_.execute("ROLLBACK");
  } catch (const std::exception&) {
    // It has read what it wanted; the connection gives up the rest when it is closed.
  }
}

ImmediateTransaction::~ImmediateTransaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const std::exception&) {
    // SQLite has rolled back by itself where it must (disk full, input/output error).
  }
}

void ImmediateTransaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace ration::sqlite
