#include <rlx/formats/colmap.hpp>
#include <rlx/ir/error.hpp>

#include <charconv>
#include <filesystem>

#include "colmap_records.hpp"
#include "pending_file.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

/// Numbers and names, one way or the other; a text has blanks between the values of a line.
class Output {
 public:
  Output(const std::string& path, ColmapEncoding encoding) : file_(path), text_(encoding == ColmapEncoding::text) {}

  bool is_text() const { return text_; }
  template <class T>
  void value(T x) {
    if (!text_) return file_.write(&x, sizeof x);
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, x).ptr;  // the shortest that reads back
    separate();
    file_.write({digits, static_cast<std::size_t>(end - digits)});
  }
  void word(std::string_view w) {
    separate();
    file_.write(w);
  }
  void count(std::size_t n) {
    if (!text_) value(static_cast<std::uint64_t>(n));
  }
  void name(std::string_view n) {
    if (text_) return word(n);
    file_.write(n);
    file_.write(std::string_view("\0", 1));
  }
  void end_line() {
    if (text_) file_.write("\n");
    first_ = true;
  }
  void comment(std::string_view line) {
    if (!text_) return;
    file_.write("# ");
    file_.write(line);
    file_.write("\n");
  }
  void commit() { file_.commit(); }

 private:
  void separate() {
    if (!first_) file_.write(" ");
    first_ = false;
  }
  PendingFile file_;
  bool text_, first_ = true;
};

void write_cameras(Output& out, const Reconstruction& r) {
  out.comment("CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]");
  out.count(r.cameras.size());
  for (const Camera& c : r.cameras) {
    out.value(c.id);
    if (out.is_text()) out.word(name(c.model));
    else out.value(static_cast<std::int32_t>(colmap_model_number(c.model)));
    out.value(static_cast<std::uint64_t>(c.width));
    out.value(static_cast<std::uint64_t>(c.height));
    for (const double p : c.parameters) out.value(p);
    out.end_line();
  }
}

void write_images(Output& out, const Reconstruction& r) {
  out.comment("IMAGE_ID, QW, QX, QY, QZ, TX, TY, TZ, CAMERA_ID, NAME");
  out.comment("POINTS2D[] as (X, Y, POINT3D_ID)");
  out.count(r.images.size());
  for (const PosedImage& image : r.images) {
    out.value(image.id);
    for (const double q : image.rotation) out.value(q);
    for (const double t : image.translation) out.value(t);
    out.value(r.cameras[static_cast<std::size_t>(image.camera)].id);
    out.name(image.name);
    out.end_line();
    out.count(image.observations.size());
    for (const Observation& o : image.observations) {
      out.value(o.x);
      out.value(o.y);
      if (o.point >= 0) out.value(r.points.ids[static_cast<std::size_t>(o.point)]);
      else if (out.is_text()) out.word("-1");
      else out.value(no_colmap_point);
    }
    out.end_line();
  }
}

void write_points(Output& out, const Reconstruction& r) {
  out.comment("POINT3D_ID, X, Y, Z, R, G, B, ERROR, TRACK[] as (IMAGE_ID, POINT2D_IDX)");
  out.count(r.points.ids.size());
  for (std::size_t i = 0; i < r.points.ids.size(); ++i) {
    out.value(r.points.ids[i]);
    for (std::size_t k = 0; k < 3; ++k) out.value(r.points.positions.as<double>()[3 * i + k]);
    for (std::size_t k = 0; k < 3; ++k) out.value(r.points.colours.as<std::uint8_t>()[3 * i + k]);
    out.value(r.points.errors.as<double>()[i]);
    const auto begin = static_cast<std::size_t>(r.points.track_offsets[i]),
               end = static_cast<std::size_t>(r.points.track_offsets[i + 1]);
    out.count(end - begin);
    for (std::size_t k = begin; k < end; ++k) {
      out.value(r.images[r.points.tracks[k].image].id);
      out.value(r.points.tracks[k].observation);
    }
    out.end_line();
  }
}

}  // namespace

void write_colmap(const std::string& folder, const Reconstruction& r, ColmapEncoding encoding) {
  check(r);
  for (const PosedImage& image : r.images) {
    const bool cut = encoding == ColmapEncoding::text && (image.name.starts_with(' ') || image.name.ends_with(' '));
    if (cut || image.name.empty() || image.name.find_first_of(std::string_view("\n\r\t\0", 4)) != std::string::npos)
      throw ArgumentError("COLMAP cannot hold an image of the name " + in_quotes(image.name));
  }
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw FormatError(folder, 0, "cannot create the folder: " + failed.message());
  const std::string suffix = encoding == ColmapEncoding::binary ? ".bin" : ".txt";
  Output cameras(folder + "/cameras" + suffix, encoding), images(folder + "/images" + suffix, encoding),
      points(folder + "/points3D" + suffix, encoding);
  write_cameras(cameras, r);
  write_images(images, r);
  write_points(points, r);
  cameras.commit();
  images.commit();
  points.commit();
}

}  // namespace rlx::formats
