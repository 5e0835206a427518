#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>

#include <cerrno>
#include <system_error>

namespace rlx::formats {

namespace {

struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

[[noreturn]] void fail(const std::string& path, const char* doing, int code, std::uint64_t offset = 0) {
  throw FormatError(path, offset, std::string(doing) + ": " + std::generic_category().message(code));
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  if (path.find('\0') != std::string::npos) throw FormatError(path, 0, "a file name cannot hold a zero byte");
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) fail(path, "cannot open", errno);
  struct stat info{};
  if (::fstat(file.fd, &info) != 0) fail(path, "cannot examine", errno);
  if (S_ISDIR(info.st_mode)) throw FormatError(path, 0, "is a directory, expected a file");

  std::shared_ptr<MappedFile> result(new MappedFile);
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    void* at = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (at != MAP_FAILED) {
      result->data_ = static_cast<const char*>(at);
      result->size_ = static_cast<std::size_t>(info.st_size);
      result->mapped_ = true;
      return result;
    }
  }
  // Pipes, devices, file systems without mmap, and files under /proc, which state size 0 yet have content.
  constexpr std::size_t chunk = 1 << 20;
  std::size_t used = 0;
  for (;;) {
    if (result->read_.size() < used + chunk) {
      const std::size_t larger = used + used / 2 + chunk;
      require_memory(path, larger);  // A device may have no end.
      result->read_.resize(larger);
    }
    const ssize_t got = ::read(file.fd, result->read_.data() + used, result->read_.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "cannot read", errno, used);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  result->data_ = result->read_.data();
  result->size_ = used;
  return result;
}

MappedFile::~MappedFile() {
  if (mapped_) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace rlx::formats
