#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>

#include <cstring>
#include <limits>

#include "colmap_records.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

class ByteReader {
 public:
  ByteReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::size_t offset() const { return at_; }
  [[noreturn]] void fail(std::size_t at, const std::string& what) const { throw FormatError(file_, at, what); }

  template <class T>
  T take(const char* what) {
    if (bytes_.size() - at_ < sizeof(T)) fail(bytes_.size(), std::string("the file ends inside ") + what);
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  template <class T, std::size_t n>
  void take(std::array<T, n>& out, const char* what) {
    for (T& x : out) x = take<T>(what);
  }
  /// A number of records of at least `least` bytes each.
  std::uint64_t count(std::size_t least, const char* what) {
    const std::size_t start = at_;
    const auto n = take<std::uint64_t>(what);
    if (n > (bytes_.size() - at_) / least)
      fail(start, std::to_string(n) + " " + what + " need at least " + counted(least, "byte") + " each, but only " +
                      std::to_string(bytes_.size() - at_) + " follow");
    return n;
  }
  std::string_view string(const char* what) {
    const std::size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) fail(at_, std::string(what) + " does not end");
    const std::string_view s = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return s;
  }
  void finish() const {
    if (at_ != bytes_.size()) fail(at_, counted(bytes_.size() - at_, "byte") + " beyond the last record");
  }

 private:
  std::string_view bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace

void parse_binary_cameras(std::string_view bytes, const std::string& file, ColmapRecords& r) {
  ByteReader in(bytes, file);
  constexpr std::size_t least = 4 + 4 + 8 + 8 + 3 * 8;
  for (std::uint64_t n = in.count(least, "cameras"); n > 0; --n) {
    constexpr const char* what = "a camera";
    r.camera_offsets.push_back(in.offset());
    Camera c;
    c.id = in.take<std::uint32_t>(what);
    const std::size_t at = in.offset();
    const auto number = in.take<std::int32_t>(what);
    const std::string_view model = colmap_model_name(number);
    const auto known = camera_model(model);
    if (!known)
      in.fail(at, "the camera model " + (model.empty() ? std::to_string(number) + " is unknown"
                                                       : std::string(model) + " is not supported"));
    c.model = *known;
    c.width = static_cast<std::int64_t>(in.take<std::uint64_t>(what));  // Beyond 63 bits it is negative, and refused.
    c.height = static_cast<std::int64_t>(in.take<std::uint64_t>(what));
    c.parameters.resize(parameter_count(c.model));
    for (double& p : c.parameters) p = in.take<double>(what);
    r.result.cameras.push_back(std::move(c));
  }
  in.finish();
}

void parse_binary_images(std::string_view bytes, const std::string& file, ColmapRecords& r) {
  ByteReader in(bytes, file);
  constexpr std::size_t least = 4 + 7 * 8 + 4 + 1 + 8;
  for (std::uint64_t n = in.count(least, "images"); n > 0; --n) {
    constexpr const char* what = "an image";
    r.image_offsets.push_back(in.offset());
    PosedImage image;
    image.id = in.take<std::uint32_t>(what);
    in.take(image.rotation, what);
    in.take(image.translation, what);
    r.image_cameras.push_back(in.take<std::uint32_t>(what));
    image.name = in.string("the name of an image");
    const std::uint64_t seen = in.count(24, "observations");
    std::vector<std::uint64_t> points(seen);
    image.observations.resize(seen);
    for (std::size_t i = 0; i < seen; ++i) {
      image.observations[i].x = in.take<double>(what);
      image.observations[i].y = in.take<double>(what);
      points[i] = in.take<std::uint64_t>(what);
    }
    r.observed_points.push_back(std::move(points));
    r.result.images.push_back(std::move(image));
  }
  in.finish();
}

void parse_binary_points(std::string_view bytes, const std::string& file, ColmapRecords& r) {
  ByteReader in(bytes, file);
  constexpr std::size_t least = 8 + 3 * 8 + 3 + 8 + 8;
  SparsePoints& points = r.result.points;
  for (std::uint64_t n = in.count(least, "points"); n > 0; --n) {
    constexpr const char* what = "a point";
    r.point_offsets.push_back(in.offset());
    points.ids.push_back(in.take<std::uint64_t>(what));
    for (int k = 0; k < 3; ++k) r.positions.push_back(in.take<double>(what));
    for (int k = 0; k < 3; ++k) r.colours.push_back(in.take<std::uint8_t>(what));
    r.errors.push_back(in.take<double>(what));
    for (std::uint64_t seen = in.count(8, "track elements"); seen > 0; --seen) {
      r.track_images.push_back(in.take<std::uint32_t>(what));
      points.tracks.push_back({0, in.take<std::uint32_t>(what)});
    }
    points.track_offsets.push_back(static_cast<std::int64_t>(points.tracks.size()));
  }
  in.finish();
}

}  // namespace rlx::formats
