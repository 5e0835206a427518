// A file that appears whole or not at all: written under another name in the same folder, then renamed.
#pragma once
#include "ir/file_size_guard.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace rlx::formats {

/// Failures to write are FormatErrors that name the target and the offset reached; the target is then as it was.
/// That holds for the limit on file sizes too, whoever writes while one lives. A target that is a pipe or a device is
/// written directly, a symbolic link keeps pointing where it does.
class PendingFile {
 public:
  explicit PendingFile(const std::string& target);
  /// Fails as writing there would, as far as that can be known; a pipe or device is not opened.
  static void check(const std::string& target);
  ~PendingFile();  ///< Removes the unfinished file unless committed.
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Hands what was written so far to the system, for others who open `path()`.
  void flush();
  /// Flushes to the disk and takes the target's place.
  void commit();

  /// Where the content lies until commit, for libraries that open files themselves.
  const std::string& path() const { return path_; }

 private:
  void put(const char* at, std::size_t bytes);
  [[noreturn]] void fail(const char* doing, int code) const;

  std::string target_;    ///< As the caller named it.
  std::string resolved_;  ///< Behind symbolic links.
  std::string path_;
  std::string buffer_{};
  FileSizeGuard guard_{};
  std::size_t written_ = 0;
  int fd_ = -1;
  bool direct_ = false;
};

}  // namespace rlx::formats
