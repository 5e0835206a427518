#include "spz_container.hpp"

#include <zstd.h>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>

#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "gzip.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

constexpr std::uint32_t spz_magic = 0x5053474e;  // "NGSP"
constexpr std::uint8_t flag_antialiased = 1, flag_extensions = 2;
constexpr std::uint32_t axes_extension = 0xadbe0003;

// What all versions begin with.
struct Header {
  std::uint32_t magic, version, count;
  std::uint8_t sh_degree, fractional_bits, flags;
  std::uint8_t streams;  // version 4 alone
};
static_assert(sizeof(Header) == 16);

// What version 4 adds.
struct Table {
  std::uint32_t offset;
  char reserved[12];
};
struct Stream {
  std::uint64_t compressed, plain;
};

constexpr const char* array_names[spz_arrays] = {"means", "opacities", "colours", "scales", "quaternions", "harmonics"};

// Offset of a field in the compressed file: known in version 4 alone, where the header is plain.
void check_header(const Header& h, std::uint32_t lowest, std::uint32_t highest, const std::string& file, bool plain) {
  const auto at = [&](std::size_t field) { return plain ? field : 0; };
  if (h.magic != spz_magic) throw FormatError(file, 0, "expected the magic number 'NGSP'");
  if (h.version < lowest || h.version > highest)
    throw FormatError(file, at(4),
                      "version " + std::to_string(h.version) + " of SPZ is unknown " +
                          (plain ? "without gzip" : "within gzip") + "; known are 1 to 3 with it, 4 without");
  if (h.sh_degree > 4)
    throw FormatError(file, at(12),
                      "spherical harmonics of degree " + std::to_string(h.sh_degree) + ": known are 0 to 4");
  if (h.fractional_bits > 24)
    throw FormatError(file, at(13), std::to_string(h.fractional_bits) + " fractional bits in numbers of 24 bits");
}

SpzContent content_of(const Header& h) {
  SpzContent c;
  c.version = h.version;
  c.count = h.count;
  c.sh_degree = h.sh_degree;
  c.fractional_bits = h.fractional_bits;
  c.antialiased = (h.flags & flag_antialiased) != 0;
  return c;
}

/// Takes what it can use of one extension.
void take_extension(SpzContent& c, std::uint32_t type, std::string_view payload, const std::string& file,
                    std::size_t at) {
  if (type != axes_extension) return;
  if (payload.size() != 4) throw FormatError(file, at, "the extension that names the axes must have 4 bytes");
  std::memcpy(&c.axes, payload.data(), 4);
  if (c.axes > 16) throw FormatError(file, at, "the axes " + std::to_string(c.axes) + " are unknown");
}

SpzContent unpack_gzip(std::string_view bytes, const std::string& file) {
  GzipReader in(bytes, file);
  Header h;
  in.read(&h, sizeof h, "its header");
  check_header(h, 1, 3, file, false);
  SpzContent c = content_of(h);
  std::size_t total = 0;
  for (std::size_t k = 0; k < spz_arrays; ++k) total += c.width(static_cast<SpzArray>(k)) * c.count;
  if (total > GzipReader::most_output(bytes.size()))
    throw FormatError(file, 0,
                      std::to_string(c.count) + " Gaussians have " + counted(total, "byte") +
                          ", which no gzip stream of " + counted(bytes.size(), "byte") + " holds");
  require_memory(file, total);
  for (std::size_t k = 0; k < spz_arrays; ++k) {
    c.arrays[k].resize(c.width(static_cast<SpzArray>(k)) * c.count);
    in.read(c.arrays[k].data(), c.arrays[k].size(), array_names[k]);
  }
  if (h.flags & flag_extensions) {
    for (std::uint32_t head[2]; in.try_read(head, sizeof head, "an extension");) {  // They go to the end of the stream.
      if (head[1] > GzipReader::most_output(bytes.size()))
        throw FormatError(file, 0, "an extension of " + counted(head[1], "byte") + " is longer than the file");
      std::string payload(head[1], '\0');
      in.read(payload.data(), payload.size(), "an extension");
      take_extension(c, head[0], payload, file, 0);
    }
  }
  in.finish();
  return c;
}

void unpack_zstd(std::string_view bytes, std::size_t at, std::vector<char>& out, const char* name,
                 const std::string& file) {
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got))
    throw FormatError(file, at,
                      std::string("the stream of ") + name + " does not decompress: " + ZSTD_getErrorName(got));
  if (got != out.size())
    throw FormatError(file, at,
                      std::string("the stream of ") + name + " holds " + counted(got, "byte") + ", not " +
                          std::to_string(out.size()));
}

SpzContent unpack_plain(std::string_view bytes, const std::string& file) {
  Header h;
  Table table;
  constexpr std::size_t head = sizeof h + sizeof table;
  if (bytes.size() < head) throw FormatError(file, bytes.size(), "the file ends inside its header of 32 bytes");
  std::memcpy(&h, bytes.data(), sizeof h);
  std::memcpy(&table, bytes.data() + sizeof h, sizeof table);
  check_header(h, 4, 4, file, true);
  SpzContent c = content_of(h);
  if (table.offset < head || table.offset > bytes.size() || (bytes.size() - table.offset) / sizeof(Stream) < h.streams)
    throw FormatError(file, sizeof h,
                      "the table of " + std::to_string(h.streams) + " streams at " + std::to_string(table.offset) +
                          " does not lie in the file");
  if (h.flags & flag_extensions) {
    for (std::size_t at = head; at < table.offset;) {
      std::uint32_t record[2];
      if (table.offset - at < sizeof record) throw FormatError(file, at, "an extension ends inside its header");
      std::memcpy(record, bytes.data() + at, sizeof record);
      at += sizeof record;
      if (record[1] > table.offset - at) throw FormatError(file, at, "an extension reaches into the table of streams");
      take_extension(c, record[0], bytes.substr(at, record[1]), file, at);
      at += record[1];
    }
  }

  std::size_t next = 0, data = table.offset + h.streams * sizeof(Stream);
  for (std::size_t k = 0; k < spz_arrays; ++k) {
    const std::size_t size = c.width(static_cast<SpzArray>(k)) * c.count;
    if (size == 0) continue;  // Empty arrays have no stream.
    const std::size_t entry = table.offset + next * sizeof(Stream);
    if (next++ == h.streams) throw FormatError(file, entry, std::string("there is no stream of ") + array_names[k]);
    Stream s;
    std::memcpy(&s, bytes.data() + entry, sizeof s);
    if (s.plain != size)
      throw FormatError(file, entry + 8,
                        std::string("the stream of ") + array_names[k] + " is said to hold " +
                            counted(s.plain, "byte") + ", but " + std::to_string(c.count) + " Gaussians have " +
                            std::to_string(size));
    if (s.compressed > bytes.size() - data)
      throw FormatError(file, entry, std::string("the stream of ") + array_names[k] + " reaches beyond the file");
    // A block of zstd has at least 4 bytes, or 3 and none within, and gives at most 128 KiB.
    if (size / (128 << 10) > s.compressed / 3)
      throw FormatError(file, entry,
                        "no zstd stream of " + counted(s.compressed, "byte") + " holds " + std::to_string(size));
    require_memory(file, size);
    c.arrays[k].resize(size);
    unpack_zstd(bytes.substr(data, s.compressed), data, c.arrays[k], array_names[k], file);
    data += s.compressed;
  }
  if (next != h.streams)
    throw FormatError(file, 15, counted(h.streams, "stream") + ", expected " + std::to_string(next));
  if (data != bytes.size())
    throw FormatError(file, data, counted(bytes.size() - data, "byte") + " beyond the last stream");
  return c;
}

void append(std::string& out, const void* at, std::size_t bytes) { out.append(static_cast<const char*>(at), bytes); }

std::string zstd(const std::vector<char>& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  constexpr int level = 12;  // as the format's own library
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size)) throw std::bad_alloc();  // the only way that a sufficient buffer fails
  out.resize(size);
  return out;
}

}  // namespace

std::size_t SpzContent::width(SpzArray array) const {
  switch (array) {
    case spz_means:
      return version == 1 ? 6 : 9;
    case spz_opacities:
      return 1;
    case spz_colours:
    case spz_scales:
      return 3;
    case spz_quaternions:
      return version < 3 ? 3 : 4;
    default:
      return static_cast<std::size_t>(3 * ((sh_degree + 1) * (sh_degree + 1) - 1));
  }
}

SpzContent unpack_spz(std::string_view bytes, const std::string& file) {
  if (bytes.empty()) throw FormatError(file, 0, "the file is empty, expected an SPZ file");
  if (bytes.starts_with("\x1f\x8b")) return unpack_gzip(bytes, file);
  if (bytes.starts_with("NGSP")) return unpack_plain(bytes, file);
  throw FormatError(file, 0, "expected an SPZ file, a gzip stream or 'NGSP', found " + in_quotes(bytes.substr(0, 4)));
}

std::string pack_spz(const SpzContent& c) {
  Header h{spz_magic,
           c.version,
           c.count,
           static_cast<std::uint8_t>(c.sh_degree),
           static_cast<std::uint8_t>(c.fractional_bits),
           c.antialiased ? flag_antialiased : std::uint8_t{0},
           0};
  std::string out;
  if (c.version < 4) {
    append(out, &h, sizeof h);
    for (const auto& array : c.arrays) append(out, array.data(), array.size());
    return gzip(out);
  }
  std::string streams;
  std::vector<Stream> table;
  for (const auto& array : c.arrays) {
    if (array.empty()) continue;
    const std::string packed = zstd(array);
    table.push_back({packed.size(), array.size()});
    streams += packed;
  }
  h.streams = static_cast<std::uint8_t>(table.size());
  const Table place{sizeof h + sizeof(Table), {}};
  append(out, &h, sizeof h);
  append(out, &place, sizeof place);
  append(out, table.data(), table.size() * sizeof(Stream));
  return out + streams;
}

}  // namespace rlx::formats
