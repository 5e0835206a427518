// Gzip streams: read in pieces of known sizes, and written.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace rlx::formats {

class GzipReader {
 public:
  GzipReader(std::string_view bytes, const std::string& file);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Fills `out`, or throws FormatError where the stream is broken or ends before; `what` names the piece.
  void read(void* out, std::size_t bytes, const char* what);
  /// The same, but false where the stream has ended already.
  bool try_read(void* out, std::size_t bytes, const char* what);
  /// Throws FormatError unless the stream, its checksum included, and the file end here.
  void finish();

  /// No stream of so many bytes holds more: two bits of it give at most 258 bytes.
  static std::size_t most_output(std::size_t compressed) { return compressed * 1032; }

 private:
  struct State;
  /// As much as can be had, up to `bytes`.
  std::size_t some(char* out, std::size_t bytes);
  [[noreturn]] void fail(const std::string& what) const;

  std::string_view bytes_;
  const std::string& file_;
  std::unique_ptr<State> state_;
};

/// One gzip stream.
std::string gzip(std::string_view bytes);

}  // namespace rlx::formats
