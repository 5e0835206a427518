// Cameras of photographs: COLMAP's models, and the map between rays and pixels.
//
// A ray is (x, y) = (X/Z, Y/Z) of a point in the camera's frame, x right, y down, z forward. A pixel's coordinates are
// those of COLMAP: the centre of the upper left pixel is (0.5, 0.5).
#pragma once
#include <rlx/ir/export.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::formats {

/// In the order of COLMAP's numbers, but for FOV, which is not supported; nor are models beyond the last.
enum class CameraModel : std::uint8_t {
  simple_pinhole,         ///< f cx cy
  pinhole,                ///< fx fy cx cy
  simple_radial,          ///< f cx cy k
  radial,                 ///< f cx cy k1 k2
  opencv,                 ///< fx fy cx cy k1 k2 p1 p2
  opencv_fisheye,         ///< fx fy cx cy k1 k2 k3 k4
  full_opencv,            ///< fx fy cx cy k1 k2 p1 p2 k3 k4 k5 k6
  simple_radial_fisheye,  ///< f cx cy k
  radial_fisheye,         ///< f cx cy k1 k2
};

/// COLMAP's name: "SIMPLE_PINHOLE".
RLX_API std::string_view name(CameraModel m);
RLX_API std::optional<CameraModel> camera_model(std::string_view name);
RLX_API std::size_t parameter_count(CameraModel m);
RLX_API bool is_fisheye(CameraModel m);

struct Camera {
  std::uint32_t id = 0;  ///< As the file numbers it.
  CameraModel model = CameraModel::pinhole;
  std::int64_t width = 0, height = 0;  ///< Pixels.
  std::vector<double> parameters{};    ///< As the model lists them; focal lengths and centre in pixels.
};

/// Throws ArgumentError unless the size is 1 to 2^31 - 1, the number of parameters right, all of them finite, and the
/// matrix of the intrinsics one that f32 holds and inverts: focal lengths positive and at least 1e-9 of the larger side
/// (180 degrees, to its digits), they and the centre within its range.
RLX_API void check(const Camera& camera);

/// The same rays in an image of another size, of a PINHOLE or SIMPLE_PINHOLE camera, as PINHOLE. Throws ArgumentError
/// for other models.
RLX_API Camera resized(const Camera& camera, std::int64_t width, std::int64_t height);

struct Pinhole {
  double fx = 1, fy = 1, cx = 0, cy = 0;
};
/// Focal lengths and centre, without the distortion. The camera must be one that check() accepts.
RLX_API Pinhole pinhole_of(const Camera& camera);

using Point2 = std::array<double, 2>;

/// Brown's radial and tangential polynomials as OpenCV orders them, or the equidistant fisheye of Kannala and Brandt
/// (2006), with the coefficients of one camera.
class RLX_API Lens {
 public:
  /// Throws what check() throws.
  explicit Lens(const Camera& camera);

  /// Where the ray goes, still in units of the focal length.
  Point2 distort(Point2 ray) const;
  /// The ray that goes there, by Newton's method; none where no ray before the fold of
  /// the polynomial does, or for a fisheye only one of 90 degrees or more off the axis.
  std::optional<Point2> undistort(Point2 distorted) const;

  /// Whether the ray lies before the fold of the polynomial: behind it distort() turns back to where other rays go.
  bool sees(Point2 ray) const;

  Point2 pixel(Point2 ray) const;
  std::optional<Point2> ray(Point2 pixel) const;

 private:
  Point2 distort_fisheye(Point2 ray) const;
  std::optional<Point2> undistort_fisheye(Point2 distorted) const;
  struct Radial {
    double factor, slope;  ///< Of the radius, and its derivative by the squared radius.
  };
  Radial radial(double squared_radius) const;
  struct Jacobian {  ///< Symmetric, as the distortion is a gradient.
    double xx, xy, yy;
    double determinant() const { return xx * yy - xy * xy; }
  };
  Jacobian jacobian(Point2 ray) const;
  struct Bend {
    double angle, slope;  ///< Of the ray behind a fisheye, and its derivative by the angle before it.
  };
  Bend bend(double angle) const;

  Pinhole pinhole_;
  bool fisheye_;
  std::array<double, 6> k_{};
  double p1_ = 0, p2_ = 0;
};

}  // namespace rlx::formats
