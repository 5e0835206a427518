// The header of a PLY file: which elements there are, and how a row of each is laid out.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::formats {

enum class PlyType : std::uint8_t { i8, u8, i16, u16, i32, u32, f32, f64 };
std::size_t width(PlyType t);

struct PlyProperty {
  std::string name{};
  PlyType type = PlyType::f32;
  std::optional<PlyType> list{};  ///< Of a list: the type of its length.
};

struct PlyElement {
  std::string name{};
  std::int64_t count = 0;
  std::vector<PlyProperty> properties{};
  std::size_t offset = 0;     ///< Of its line in the header.
  std::size_t row_bytes = 0;  ///< In binary files; the least where there are lists.
  bool has_lists = false;

  std::optional<std::size_t> find(std::string_view property) const;
  /// Where a property stands that is one number and no list. Throws FormatError; `absent` ends what it says where there
  /// is none.
  std::size_t number(const std::string& property, const std::string& file, std::string_view absent = {}) const;
};

enum class PlyFormat : std::uint8_t { ascii, little_endian, big_endian };

struct PlyHeader {
  PlyFormat format = PlyFormat::ascii;
  bool antialiased = false;  ///< A comment is this word alone.
  std::vector<PlyElement> elements{};
  std::size_t data_offset = 0;

  const PlyElement* find(std::string_view element) const;
  /// Throws FormatError where there is none.
  const PlyElement& element(const std::string& name, const std::string& file) const;
};

/// Throws FormatError. Counts are checked only for what their own digits say.
PlyHeader parse_ply_header(std::string_view bytes, const std::string& file);

}  // namespace rlx::formats
