#include "ply_body.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <concepts>
#include <cstring>
#include <limits>

#include "sizes.hpp"

#include <rlx/ir/counted.hpp>

namespace rlx::formats {

namespace {

template <class T, bool swapped>
T load(const char* at) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, at, sizeof(T));
  if constexpr (swapped) std::reverse(bytes, bytes + sizeof(T));
  return std::bit_cast<T>(bytes);
}

// One property of many rows: a call a column, so that the loop over the rows knows its types.
template <class From, class To, bool swapped>
void convert(const char* from, std::size_t row_bytes, std::size_t rows, To* out, std::size_t stride) {
  for (std::size_t i = 0; i < rows; ++i) out[i * stride] = static_cast<To>(load<From, swapped>(from + i * row_bytes));
}

template <class To>
using Convert = void (*)(const char*, std::size_t, std::size_t, To*, std::size_t);

template <class To, bool swapped>
Convert<To> converter(PlyType type) {
  if constexpr (std::same_as<To, std::uint32_t>) {
    return &convert<std::uint32_t, To, swapped>;
  } else {
    switch (type) {
      case PlyType::i8:
        return &convert<std::int8_t, To, swapped>;
      case PlyType::u8:
        return &convert<std::uint8_t, To, swapped>;
      case PlyType::i16:
        return &convert<std::int16_t, To, swapped>;
      case PlyType::u16:
        return &convert<std::uint16_t, To, swapped>;
      case PlyType::i32:
        return &convert<std::int32_t, To, swapped>;
      case PlyType::u32:
        return &convert<std::uint32_t, To, swapped>;
      case PlyType::f32:
        return &convert<float, To, swapped>;
      default:
        return &convert<double, To, swapped>;
    }
  }
}

template <class To>
Convert<To> converter(PlyType type, PlyFormat format) {
  return format == PlyFormat::big_endian ? converter<To, true>(type) : converter<To, false>(type);
}

/// The length of a list as its type stores it; a negative one is negative.
std::int64_t load_length(const char* at, PlyType type, PlyFormat format) {
  const auto as = [&]<class T>(T) -> std::int64_t {
    return format == PlyFormat::big_endian ? load<T, true>(at) : load<T, false>(at);
  };
  switch (type) {
    case PlyType::i8:
      return as(std::int8_t{});
    case PlyType::u8:
      return as(std::uint8_t{});
    case PlyType::i16:
      return as(std::int16_t{});
    case PlyType::u16:
      return as(std::uint16_t{});
    case PlyType::i32:
      return as(std::int32_t{});
    default:
      return as(std::uint32_t{});
  }
}

/// Parsed as the type it becomes, because rounding a decimal twice may round it wrongly.
float ascii_value(TextScanner& text, const char* name, float) {
  text.skip_blanks();
  const std::string_view word = text.peek_word();
  float value = 0;
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code == std::errc() && stop == word.data() + word.size()) {
    text.skip(word.size());
    return value;
  }
  return static_cast<float>(text.real(name));
}

std::uint32_t ascii_value(TextScanner& text, const char* name, std::uint32_t) {
  const std::size_t start = text.offset();
  const std::int64_t value = text.integer(name);
  if (value < 0 || value > std::numeric_limits<std::uint32_t>::max())
    text.fail_at(start, std::string(name) + " " + std::to_string(value) + " is not an unsigned number of 32 bits");
  return static_cast<std::uint32_t>(value);
}

}  // namespace

PlyBody::PlyBody(std::string_view bytes, const std::string& file, const PlyHeader& header)
    : bytes_(bytes), file_(file), header_(header), at_(header.data_offset), text_(bytes, file, '\0') {
  text_.skip(header.data_offset);
  check_counts();
}

void PlyBody::check_counts() const {
  std::size_t left = bytes_.size() - header_.data_offset;
  const bool ascii = header_.format == PlyFormat::ascii;
  if (ascii) ++left;  // The last line may lack its end.
  for (const PlyElement& e : header_.elements) {
    // A value of a text has a digit and a blank or line end.
    const std::size_t row = ascii ? 2 * e.properties.size() : e.row_bytes;
    std::size_t wanted = 0;
    if (__builtin_mul_overflow(row, static_cast<std::size_t>(e.count), &wanted) || wanted > left)
      throw FormatError(file_, e.offset,
                        counted(e.count, "row") + " of element " + in_quotes(e.name) + " need at least " +
                            counted(row, "byte") + " each, but only " + std::to_string(left) + " are left for them");
    left -= wanted;
  }
}

const char* PlyBody::take(std::size_t bytes, const PlyElement& e, std::int64_t row) {
  if (bytes > bytes_.size() - at_)
    throw FormatError(file_, bytes_.size(),
                      "the file ends in row " + std::to_string(row) + " of element " + in_quotes(e.name) +
                          ", which has " + std::to_string(e.count));
  const char* from = bytes_.data() + at_;
  at_ += bytes;
  return from;
}

template <class T>
void PlyBody::read_fixed(const PlyElement& e, std::span<const PlyColumn<T>> columns) {
  struct Source {
    Convert<T> convert;
    std::size_t offset;
  };
  std::vector<Source> sources;
  std::vector<std::size_t> offsets(1, 0);
  for (const PlyProperty& p : e.properties) offsets.push_back(offsets.back() + width(p.type));
  for (const PlyColumn<T>& c : columns)
    sources.push_back({converter<T>(e.properties[c.property].type, header_.format), offsets[c.property]});

  const auto count = static_cast<std::size_t>(e.count);
  const char* const rows = take(count * e.row_bytes, e, e.count - 1);
  constexpr std::size_t block = 128;  // Rows that stay in the cache while their columns are picked out.
  for (std::size_t first = 0; first < count && !columns.empty(); first += block) {
    const std::size_t n = std::min(block, count - first);
    for (std::size_t c = 0; c < columns.size(); ++c)
      sources[c].convert(rows + first * e.row_bytes + sources[c].offset, e.row_bytes, n,
                         columns[c].out + first * columns[c].stride, columns[c].stride);
  }
}

template <class T>
void PlyBody::read_lists(const PlyElement& e, std::span<const PlyColumn<T>> columns) {
  struct Target {
    Convert<T> convert = nullptr;
    const PlyColumn<T>* column = nullptr;
  };
  std::vector<Target> targets(e.properties.size());
  for (const PlyColumn<T>& c : columns)
    targets[c.property] = {converter<T>(e.properties[c.property].type, header_.format), &c};
  for (std::int64_t row = 0; row < e.count; ++row) {
    for (std::size_t p = 0; p < e.properties.size(); ++p) {
      const PlyProperty& property = e.properties[p];
      if (property.list) {
        const std::size_t start = at_;
        const std::int64_t length = load_length(take(width(*property.list), e, row), *property.list, header_.format);
        if (length < 0)
          throw FormatError(file_, start,
                            "list " + in_quotes(property.name) + " has the length " + std::to_string(length));
        take(static_cast<std::size_t>(length) * width(property.type), e, row);  // At most 8 * 2^32.
        continue;
      }
      const char* from = take(width(property.type), e, row);
      if (const Target& t = targets[p]; t.column)
        t.convert(from, 0, 1, t.column->out + static_cast<std::size_t>(row) * t.column->stride, 1);
    }
  }
}

template <class T>
void PlyBody::read_ascii(const PlyElement& e, std::span<const PlyColumn<T>> columns) {
  std::vector<const PlyColumn<T>*> targets(e.properties.size(), nullptr);
  for (const PlyColumn<T>& c : columns) targets[c.property] = &c;
  for (std::int64_t row = 0; row < e.count; ++row) {
    text_.skip_to_word();
    for (std::size_t p = 0; p < e.properties.size(); ++p) {
      const PlyProperty& property = e.properties[p];
      const char* const name = property.name.c_str();
      if (property.list) {
        const std::size_t start = text_.offset();
        const std::int64_t length = text_.integer(name);
        if (length < 0) text_.fail_at(start, "list " + in_quotes(name) + " has the length " + std::to_string(length));
        for (std::int64_t i = 0; i < length; ++i) text_.real(name);  // Fails at the end of the line at the latest.
      } else if (targets[p]) {
        targets[p]->out[static_cast<std::size_t>(row) * targets[p]->stride] = ascii_value(text_, name, T{});
      } else {
        text_.real(name);
      }
    }
    text_.end_line("a row");
  }
}

template <class T>
void PlyBody::read_to(const PlyElement& element, std::span<const PlyColumn<T>> columns) {
  for (;;) {
    const PlyElement& e = header_.elements[next_++];
    const auto wanted = &e == &element ? columns : std::span<const PlyColumn<T>>{};
    if (!e.properties.empty() && e.count > 0) {  // Rows of nothing are not there, however many.
      if (header_.format == PlyFormat::ascii) read_ascii(e, wanted);
      else if (e.has_lists) read_lists(e, wanted);
      else read_fixed(e, wanted);
    }
    if (&e == &element) return;
  }
}

void PlyBody::read(const PlyElement& element, std::span<const PlyColumn<float>> columns) { read_to(element, columns); }
void PlyBody::read(const PlyElement& element, std::span<const PlyColumn<std::uint32_t>> columns) {
  read_to(element, columns);
}

void PlyBody::finish() {
  if (next_ < header_.elements.size()) read_to(header_.elements.back(), std::span<const PlyColumn<float>>{});
  if (header_.format == PlyFormat::ascii) {
    text_.skip_to_word();
    if (!text_.at_end())
      text_.fail("expected the end of the file after the last row, found " + in_quotes(text_.peek_word()));
  } else if (at_ != bytes_.size()) {
    throw FormatError(file_, at_, counted(bytes_.size() - at_, "byte") + " beyond the last row");
  }
}

}  // namespace rlx::formats
