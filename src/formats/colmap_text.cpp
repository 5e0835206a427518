#include <rlx/ir/error.hpp>

#include <limits>

#include "colmap_records.hpp"
#include "sizes.hpp"
#include "text_scanner.hpp"

namespace rlx::formats {

namespace {

/// To the next record: lines that begin with '#' are comments.
bool next_record(TextScanner& in) {
  for (;;) {
    in.skip_to_word();
    if (in.at_end()) return false;
    if (!in.peek_word().starts_with('#')) return true;
    in.skip_line();
  }
}

std::int64_t within(TextScanner& in, const char* what, std::int64_t lowest, std::int64_t highest) {
  in.skip_blanks();
  const std::size_t start = in.offset();
  const std::int64_t value = in.integer(what);
  if (value < lowest || value > highest)
    in.fail_at(start, std::string(what) + " " + std::to_string(value) + " is not within " + std::to_string(lowest) +
                          " to " + std::to_string(highest));
  return value;
}

std::uint32_t id(TextScanner& in, const char* what) {
  return static_cast<std::uint32_t>(within(in, what, 0, std::numeric_limits<std::uint32_t>::max()));
}

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

}  // namespace

void parse_text_cameras(std::string_view bytes, const std::string& file, ColmapRecords& r) {
  TextScanner in(bytes, file, '\0');
  while (next_record(in)) {
    r.camera_offsets.push_back(in.offset());
    Camera c;
    c.id = id(in, "camera id");
    in.skip_blanks();
    const std::string_view model = in.peek_word();
    const auto known = camera_model(model);
    if (!known) in.fail("the camera model " + in_quotes(model) + " is not supported");
    in.skip(model.size());
    c.model = *known;
    c.width = in.integer("width");
    c.height = in.integer("height");
    c.parameters.resize(parameter_count(c.model));
    for (double& p : c.parameters) p = in.real("a parameter");
    in.end_line("a camera");
    r.result.cameras.push_back(std::move(c));
  }
}

void parse_text_images(std::string_view bytes, const std::string& file, ColmapRecords& r) {
  TextScanner in(bytes, file, '\0');
  while (next_record(in)) {
    r.image_offsets.push_back(in.offset());
    PosedImage image;
    image.id = id(in, "image id");
    for (double& q : image.rotation) q = in.real("rotation");
    for (double& t : image.translation) t = in.real("translation");
    r.image_cameras.push_back(id(in, "camera id"));
    image.name = in.rest_of_line();
    // The second line may be empty, which is no blank line between records.
    in.skip_line_end();
    std::vector<std::uint64_t> points;
    for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks()) {
      Observation o;
      o.x = in.real("x");
      o.y = in.real("y");
      const std::int64_t point = within(in, "point id", -1, most);
      image.observations.push_back(o);
      points.push_back(point < 0 ? no_colmap_point : static_cast<std::uint64_t>(point));
    }
    r.observed_points.push_back(std::move(points));
    r.result.images.push_back(std::move(image));
  }
}

void parse_text_points(std::string_view bytes, const std::string& file, ColmapRecords& r) {
  TextScanner in(bytes, file, '\0');
  SparsePoints& points = r.result.points;
  while (next_record(in)) {
    r.point_offsets.push_back(in.offset());
    points.ids.push_back(static_cast<std::uint64_t>(within(in, "point id", 0, most)));
    for (int k = 0; k < 3; ++k) r.positions.push_back(in.real("position"));
    for (int k = 0; k < 3; ++k) r.colours.push_back(static_cast<std::uint8_t>(within(in, "colour", 0, 255)));
    r.errors.push_back(in.real("error"));
    for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks()) {
      r.track_images.push_back(id(in, "image id"));
      points.tracks.push_back({0, id(in, "observation")});
    }
    points.track_offsets.push_back(static_cast<std::int64_t>(points.tracks.size()));
  }
}

}  // namespace rlx::formats
