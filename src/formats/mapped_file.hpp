// Read-only bytes of a file, mapped where the system can.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::formats {

class MappedFile {
 public:
  /// Throws FormatError for what cannot be opened or read and for directories. Pipes and devices are read to their end.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  bool mapped_ = false;
  std::vector<char> read_{};  ///< Holds the bytes where they are not mapped.
};

}  // namespace rlx::formats
