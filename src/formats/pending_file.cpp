#include "pending_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rlx/ir/error.hpp>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace rlx::formats {

namespace fs = std::filesystem;

PendingFile::PendingFile(const std::string& target) : target_(target), resolved_(target) {
  if (target.empty() || target.find('\0') != std::string::npos) fail("cannot create", EINVAL);
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(target, ignored))) {
    const fs::path real = fs::weakly_canonical(target, ignored);  // a dangling link gives the file that it promises
    if (!ignored) resolved_ = real.string();
  }

  struct stat info{};
  const bool exists = ::stat(resolved_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) fail("cannot create", EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    direct_ = true;
    path_ = resolved_;
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail("cannot open for writing", errno);
    return;
  }
  // A folder may allow replacing a file that its owner has made read-only; that is respected, as an editor would.
  if (exists && ::access(resolved_.c_str(), W_OK) != 0) fail("cannot write", errno);

  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; fd_ < 0; ++attempt) {
    path_ = resolved_ + ".part" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && (errno != EEXIST || attempt == 100)) {
      const int code = errno;
      path_.clear();  // not ours to remove
      fail("cannot create", code);
    }
  }
  if (exists) (void)::fchmod(fd_, info.st_mode & 07777);  // best effort: the content matters more than its mode
}

void PendingFile::check(const std::string& target) {
  struct stat info{};
  if (::stat(target.c_str(), &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) {
    const PendingFile none(target);
    return;
  }
  if (::access(target.c_str(), W_OK) != 0)
    throw FormatError(target, 0, "cannot write: " + std::generic_category().message(errno));
}

PendingFile::~PendingFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!path_.empty() && !direct_) ::unlink(path_.c_str());
}

void PendingFile::fail(const char* doing, int code) const {
  throw FormatError(target_, written_, std::string(doing) + ": " + std::generic_category().message(code));
}

void PendingFile::write(const void* data, std::size_t bytes) {
  constexpr std::size_t buffered = 1 << 18;
  if (bytes < buffered) {
    buffer_.append(static_cast<const char*>(data), bytes);
    if (buffer_.size() >= buffered) flush();
    return;
  }
  flush();
  put(static_cast<const char*>(data), bytes);
}

void PendingFile::flush() {
  put(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void PendingFile::put(const char* at, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(fd_, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("cannot write", done < 0 ? errno : EIO);
    at += done;
    bytes -= static_cast<std::size_t>(done);
    written_ += static_cast<std::size_t>(done);
  }
}

void PendingFile::commit() {
  flush();
  // Without it a crash after the rename could leave an empty file in place of the old one.
  if (!direct_ && ::fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP) fail("cannot write", errno);
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0 && errno != EINTR) fail("cannot write", errno);
  if (!direct_ && ::rename(path_.c_str(), resolved_.c_str()) != 0) fail("cannot replace", errno);
  path_.clear();
}

}  // namespace rlx::formats
