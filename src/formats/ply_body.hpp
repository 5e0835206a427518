// The rows of a PLY file: the wanted columns of each element, the rest skipped.
#pragma once
#include <rlx/ir/error.hpp>

#include <span>

#include "ply_header.hpp"
#include "text_scanner.hpp"

namespace rlx::formats {

/// Where a property goes: out[row * stride].
template <class T>
struct PlyColumn {
  std::size_t property;
  T* out;
  std::size_t stride;
};

/// Goes through the elements in the order of the file.
class PlyBody {
 public:
  /// Throws FormatError where the rest of the file cannot hold the rows that the header counts.
  PlyBody(std::string_view bytes, const std::string& file, const PlyHeader& header);

  /// Reads `columns` of `element`, one that was not passed yet, and skips what is before it. No column is a list.
  void read(const PlyElement& element, std::span<const PlyColumn<float>> columns);
  /// As above for properties of type u32 alone, exactly.
  void read(const PlyElement& element, std::span<const PlyColumn<std::uint32_t>> columns);
  /// Skips the elements that are left; nothing may follow them.
  void finish();

 private:
  template <class T>
  void read_to(const PlyElement& element, std::span<const PlyColumn<T>> columns);
  template <class T>
  void read_fixed(const PlyElement& element, std::span<const PlyColumn<T>> columns);
  template <class T>
  void read_lists(const PlyElement& element, std::span<const PlyColumn<T>> columns);
  template <class T>
  void read_ascii(const PlyElement& element, std::span<const PlyColumn<T>> columns);
  const char* take(std::size_t bytes, const PlyElement& element, std::int64_t row);
  void check_counts() const;

  std::string_view bytes_;
  const std::string& file_;
  const PlyHeader& header_;
  std::size_t at_;        ///< In a binary file.
  TextScanner text_;      ///< In a text.
  std::size_t next_ = 0;  ///< The element that comes next.
};

}  // namespace rlx::formats
