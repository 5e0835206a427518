// Writing beyond the file size limit (ulimit -f) raises SIGXFSZ, which ends the process; with the signal held back the
// write fails with EFBIG, an error like any other.
#pragma once
#include <csignal>

namespace rlx {

/// While one lives, this thread gets no SIGXFSZ. What our own writes raised is discarded, handlers and the caller's
/// mask are left as found.
class FileSizeGuard {
 public:
  FileSizeGuard() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &mask_);
  }
  ~FileSizeGuard() {
    const timespec now{};
    while (!was_pending_ && sigtimedwait(&signal_, nullptr, &now) == SIGXFSZ) {}
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  FileSizeGuard(const FileSizeGuard&) = delete;
  FileSizeGuard& operator=(const FileSizeGuard&) = delete;

 private:
  sigset_t signal_{}, mask_{};
  bool was_pending_ = false;
};

}  // namespace rlx
