#include "gzip.hpp"

#include <zlib.h>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

namespace rlx::formats {

namespace {

// zlib counts in 32 bits.
constexpr std::size_t piece = std::size_t{1} << 30;
constexpr int gzip_window = 15 + 16;  // the largest window, with a gzip header

}  // namespace

struct GzipReader::State {
  z_stream stream{};
  std::size_t given = 0;  // of the input
  bool ended = false;
};

GzipReader::GzipReader(std::string_view bytes, const std::string& file)
    : bytes_(bytes), file_(file), state_(std::make_unique<State>()) {
  if (inflateInit2(&state_->stream, gzip_window) != Z_OK) throw std::bad_alloc();
}

GzipReader::~GzipReader() { inflateEnd(&state_->stream); }

void GzipReader::fail(const std::string& what) const {
  throw FormatError(file_, state_->given - state_->stream.avail_in, what);
}

std::size_t GzipReader::some(char* out, std::size_t bytes) {
  z_stream& z = state_->stream;
  std::size_t done = 0;
  while (done < bytes && !state_->ended) {
    if (z.avail_in == 0) {
      const std::size_t more = std::min(piece, bytes_.size() - state_->given);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes_.data() + state_->given));
      z.avail_in = static_cast<uInt>(more);
      state_->given += more;
    }
    const std::size_t room = std::min(piece, bytes - done);
    z.next_out = reinterpret_cast<Bytef*>(out + done);
    z.avail_out = static_cast<uInt>(room);
    const int code = inflate(&z, Z_NO_FLUSH);
    done += room - z.avail_out;
    if (code == Z_STREAM_END) state_->ended = true;
    else if (code == Z_MEM_ERROR) throw std::bad_alloc();
    else if (code == Z_BUF_ERROR) fail("the compressed stream is cut short");
    else if (code != Z_OK)
      fail(std::string("the compressed stream is broken: ") + (z.msg ? z.msg : "needs a dictionary"));
  }
  return done;
}

void GzipReader::read(void* out, std::size_t bytes, const char* what) {
  if (!try_read(out, bytes, what) && bytes > 0) fail(std::string("the compressed stream ends before ") + what);
}

bool GzipReader::try_read(void* out, std::size_t bytes, const char* what) {
  const std::size_t done = some(static_cast<char*>(out), bytes);
  if (done == 0) return false;
  if (done != bytes)
    fail("the compressed stream ends after " + std::to_string(done) + " of " + counted(bytes, "byte") + " of " + what);
  return true;
}

void GzipReader::finish() {
  char more = 0;
  if (some(&more, 1) != 0) fail("the compressed stream holds more than its header says");
  if (const std::size_t used = state_->given - state_->stream.avail_in; used != bytes_.size())
    fail(counted(bytes_.size() - used, "byte") + " beyond the compressed stream");
}

std::string gzip(std::string_view bytes) {
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const auto end = [](z_stream* s) { deflateEnd(s); };
  const std::unique_ptr<z_stream, decltype(end)> guard(&z, end);
  std::string out;
  std::size_t given = 0;
  for (int code = Z_OK; code != Z_STREAM_END;) {
    if (z.avail_in == 0) {
      const std::size_t more = std::min(piece, bytes.size() - given);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + given));
      z.avail_in = static_cast<uInt>(more);
      given += more;
    }
    constexpr std::size_t step = 1 << 20;
    const std::size_t used = out.size();
    out.resize(used + step);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    z.avail_out = static_cast<uInt>(step);
    code = deflate(&z, given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    out.resize(used + step - z.avail_out);
  }
  return out;
}

}  // namespace rlx::formats
