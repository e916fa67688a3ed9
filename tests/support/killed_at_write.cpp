#include "support/killed_at_write.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "support/child_process.h"

namespace ration::testing {
namespace {

// x86 has older calls too.
constexpr std::array kChanging = {
    SYS_write,    SYS_pwrite64,  SYS_writev, SYS_fsync,   SYS_fdatasync, SYS_ftruncate,
    SYS_unlinkat, SYS_renameat2, SYS_flock,  SYS_mkdirat, SYS_renameat,
#ifdef SYS_rename
    SYS_rename,   SYS_unlink,    SYS_mkdir,  SYS_rmdir,
#endif
};

bool changes_the_disk(pid_t child) {
  __ptrace_syscall_info info{};
  if (ptrace(static_cast<__ptrace_request>(PTRACE_GET_SYSCALL_INFO), child, sizeof(info), &info) <= 0) {
    throw std::runtime_error("kill_at_write: cannot look at a call");
  }
  return info.op == PTRACE_SYSCALL_INFO_ENTRY &&
         std::find(kChanging.begin(), kChanging.end(), static_cast<long>(info.entry.nr)) != kChanging.end();
}

class Traced {
 public:
  Traced(const std::string& program, const std::vector<std::string>& arguments)
      : program_(program, arguments, "", [] { ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }) {
    wait();
    if (stopped()) ptrace(PTRACE_SETOPTIONS, id(), nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  }

  pid_t id() const { return program_.id(); }
  bool stopped() const { return WIFSTOPPED(status_); }
  bool at_call() const { return stopped() && WSTOPSIG(status_) == (SIGTRAP | 0x80); }
  // To the next call's begin or end; signals go through.
  void go_on() {
    const int signal = at_call() || WSTOPSIG(status_) == SIGTRAP ? 0 : WSTOPSIG(status_);
    ptrace(PTRACE_SYSCALL, id(), nullptr, signal);
    wait();
  }
  void kill() {
    program_.signal(SIGKILL);
    while (stopped()) wait();
  }
  Finished finished() { return program_.ended_with(status_); }

 private:
  void wait() {
    if (waitpid(id(), &status_, 0) != id()) throw std::runtime_error("kill_at_write: waitpid failed");
  }

  RunningProgram program_;
  int status_ = 0;
};

}  // namespace

KilledAtWrite kill_at_write(const std::string& program, const std::vector<std::string>& arguments, int n,
                            bool before) {
  Traced traced(program, arguments);
  if (!traced.stopped()) throw std::runtime_error("kill_at_write: may not trace a child");
  KilledAtWrite told;
  while (traced.stopped()) {
    if (traced.at_call() && changes_the_disk(traced.id()) && ++told.writes == n) {
      if (!before) traced.go_on();
      traced.kill();
      told.killed = true;
      break;
    }
    traced.go_on();
  }
  told.err = traced.finished().err;
  return told;
}

bool can_trace_children() {
  try {
    return kill_at_write("/bin/true", {}, 1'000'000, true).writes >= 0;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace ration::testing
