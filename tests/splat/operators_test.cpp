// Operators against the stored results of gsplat (float32, fast-math): they agree with a float64 renderer within 2e-6.
#include "references.hpp"

#include <rlx/transform/vjp.hpp>

namespace rlx::splat::testing {
namespace {

const Reference file("gsplat_ops.h5");

TEST(QuatScaleToCov, AgreesWithTheStoredMatrices) {
  RLX_NEEDS(file);
  const std::vector<HostTensor> in{file("quats_wxyz"), file("scales")};
  const auto got = run(graph_of(in,
                                [](Builder&, ValuesIn v) -> Values {
                                  const Covariances c = quat_scale_to_cov_and_precision(v[0], v[1]);
                                  return {c.covars, c.precisions};
                                }),
                       in);
  EXPECT_LE(relative_difference(got[0], file("op_covars")), 1e-5);
  EXPECT_LE(relative_difference(got[1], file("op_precis")), 1e-5);
}

TEST(QuatScaleToCov, AZeroQuaternionIsNoRotationAndGetsNoGradient) {
  for (const DType t : {DType::f32, DType::f64}) {
    const std::vector<HostTensor> in{HostTensor(t, {1, 4}), HostTensor::from(t, {1, 3}, std::vector<double>{1, 2, 3})};
    const Graph f = graph_of(in, [](Builder&, ValuesIn v) -> Values { return {quat_scale_to_cov(v[0], v[1])}; });
    std::vector<HostTensor> arguments = in;
    arguments.push_back(HostTensor::from(t, {1, 3, 3}, std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 1}));
    const auto got = run(transform::vjp(f, catalog().operators), arguments);
    for (std::int64_t k = 0; k < 9; ++k) EXPECT_EQ(got[0].get_f64(k), k == 0 ? 1 : k == 4 ? 4 : k == 8 ? 9 : 0) << k;
    for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(got[1].get_f64(k), 0) << k;
    for (std::int64_t k = 0; k < 3; ++k) EXPECT_EQ(got[2].get_f64(k), static_cast<double>(2 * (k + 1))) << k;
  }
}

/// Operands of project for a camera model of the file, of a type.
std::vector<HostTensor> scene(const std::string& model, DType t) {
  const auto read = [&](const std::string& name) { return as(t, file(name)); };
  return {read("means"), read("quats_wxyz"), read("scales"), read("viewmats"),
          read(model == "ortho" ? "Ks_ortho" : "Ks_pinhole")};
}
ProjectAttrs attributes(const std::string& model) {
  ProjectAttrs a{.width = file.number("width"), .height = file.number("height")};
  a.camera = model == "ortho" ? CameraModel::ortho : model == "fisheye" ? CameraModel::fisheye : CameraModel::pinhole;
  return a;
}
Graph projection(const std::vector<HostTensor>& in, const ProjectAttrs& a) {
  return graph_of(in, [&](Builder&, ValuesIn v) -> Values {
    const Projected p = project(v[0], quat_scale_to_cov(v[1], v[2]), v[3], v[4], a);
    return {p.radii, p.means, p.depths, p.conics, p.compensations};
  });
}

class Project : public ::testing::TestWithParam<const char*> {};

// Radii are rounded up: where the number lies within 1e-5 of an integer, either is right. What one side culls and the
// other does not is such a case too, and is left out of the other results.
TEST_P(Project, AgreesWithTheStoredResults) {
  RLX_NEEDS(file);
  const std::string model = GetParam();
  const std::vector<HostTensor> in = scene(model, DType::f32), exact = scene(model, DType::f64);
  const ProjectAttrs a = attributes(model);
  const auto got = run(projection(in, a), in);
  // 3.33 standard deviations in float64, from the inverse of the blurred covariance.
  const HostTensor conics = run(projection(exact, a), exact)[3];
  const HostTensor radii = file("op_" + model + "_radii");
  std::int64_t visible = 0, near_integer = 0;
  std::vector<bool> both;
  for (std::int64_t i = 0; i < got[2].numel(); ++i) {
    both.push_back(radii.get_i64(2 * i) > 0 && got[0].get_i64(2 * i) > 0);
    visible += both.back();
    const double xx = conics.get_f64(3 * i), xy = conics.get_f64(3 * i + 1), yy = conics.get_f64(3 * i + 2);
    const double det = xx * yy - xy * xy;
    for (int axis = 0; axis < 2; ++axis) {
      if (got[0].get_i64(2 * i + axis) == radii.get_i64(2 * i + axis)) continue;
      const double exactly = 3.33 * std::sqrt((axis ? xx : yy) / det);
      EXPECT_LE(std::abs(exactly - std::round(exactly)), 1e-5 * exactly) << model << " " << i;
      EXPECT_LE(std::abs(got[0].get_i64(2 * i + axis) - radii.get_i64(2 * i + axis)), 1) << model << " " << i;
      ++near_integer;
    }
  }
  EXPECT_GT(visible, 100);
  EXPECT_LE(near_integer, 2);
  const char* names[] = {"means2d", "depths", "conics", "compensations"};
  for (int k = 0; k < 4; ++k) {
    HostTensor expected = file("op_" + model + "_" + names[k]), ours = got[static_cast<std::size_t>(k) + 1];
    const std::int64_t width = expected.numel() / static_cast<std::int64_t>(both.size());
    for (std::size_t i = 0; i < both.size(); ++i)
      for (std::int64_t j = 0; j < width && !both[i]; ++j) {
        expected.set_f64(static_cast<std::int64_t>(i) * width + j, 0);
        ours.set_f64(static_cast<std::int64_t>(i) * width + j, 0);
      }
    EXPECT_LE(relative_difference(ours, expected), 1e-5) << model << " " << names[k];
  }
}
INSTANTIATE_TEST_SUITE_P(Models, Project, ::testing::Values("pinhole", "ortho", "fisheye"),
                         [](const auto& model) { return std::string(model.param); });

// Gaussians that no camera sees, for every reason there is, between two that are seen: their gradients are zero and
// those of the others and of the cameras finite.
TEST(ProjectGradient, WhatIsCulledLeaksNothing) {
  struct Case {
    double x, y, z, variance;
    bool seen;
  };
  const double nan = std::nan(""), inf = INFINITY;
  const std::vector<Case> cases{{0, 0, 2, 0.02, true},
                                {0, 0, -1, 0.02, false},
                                {0, 0, 0, 0.02, false},
                                {500, 0, 1, 0.02, false},
                                {0, 0, 1e11, 0.02, false},
                                {nan, 0, 2, 0.02, false},
                                {inf, 0, 2, 0.02, false},
                                {0, 0, 2, nan, false},
                                {0, 0, 2, 1e200, false},
                                {1e15, 0, 1, 0.02, false},
                                {0, 0, 1e-30, 0.02, false},
                                {0.2, 0.1, 2, 0.02, true},
                                // On the near plane, where it covers the whole image, and just before it.
                                {-0.1, 0, 0.01, 0.02, true},
                                {-0.1, 0, 0.00999, 0.02, false}};
  const auto n = static_cast<std::int64_t>(cases.size());
  std::vector<double> means, covars, views, lenses;
  for (const Case& c : cases) {
    means.insert(means.end(), {c.x, c.y, c.z});
    covars.insert(covars.end(), {c.variance, 0.001, 0, 0.001, 0.03, 0, 0, 0, 0.01});
  }
  constexpr int cameras = 4;
  for (int c = 0; c < cameras;
       ++c) {  // The second camera has no focal length, the third a NaN, the fourth next to none.
    views.insert(views.end(), {1, 0, 0, c == 2 ? nan : 0.1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
    lenses.insert(lenses.end(), {c == 1 ? 0. : c == 3 ? 1e-300 : 30., 0, 16, 0, 30, 16, 0, 0, 1});
  }
  for (const CameraModel model : {CameraModel::pinhole, CameraModel::ortho, CameraModel::fisheye})
    for (const DType t : {DType::f32, DType::f64}) {
      SCOPED_TRACE(std::string(enum_names(model)[static_cast<std::size_t>(model)]) + " " + std::string(name(t)));
      std::vector<HostTensor> in{HostTensor::from(t, {n, 3}, means), HostTensor::from(t, {n, 3, 3}, covars),
                                 HostTensor::from(t, {cameras, 4, 4}, views),
                                 HostTensor::from(t, {cameras, 3, 3}, lenses)};
      const Graph f = graph_of(in, [&](Builder&, ValuesIn v) -> Values {
        const Projected p = project(v[0], v[1], v[2], v[3], {.width = 32, .height = 32, .camera = model});
        return {p.radii, p.means, p.depths, p.conics, p.compensations};
      });
      const auto values = run(f, in);
      for (std::int64_t i = 0; i < cameras * n; ++i)
        EXPECT_EQ(values[0].get_i64(2 * i) > 0, i < n && cases[static_cast<std::size_t>(i)].seen) << i;
      for (std::size_t k = 1; k < values.size(); ++k) {
        HostTensor ones(t, values[k].shape());
        for (std::int64_t i = 0; i < ones.numel(); ++i) ones.set_f64(i, 1);
        in.push_back(ones);
      }
      // With the gradient to intrinsics there is no kernel.
      const bool has_kernel = t == DType::f32 && model != CameraModel::fisheye;
      for (const bool lens : has_kernel ? std::vector{true, false} : std::vector{true}) {
        const Graph g =
            transform::vjp(f, catalog().operators, {{true, true, true, lens}, {false, true, true, true, true}, false});
        const auto gradients = run(g, in);
        for (const HostTensor& x : gradients)
          for (std::int64_t i = 0; i < x.numel(); ++i) EXPECT_TRUE(std::isfinite(x.get_f64(i))) << i;
        for (std::int64_t i = 0; i < n; ++i) {
          double size = 0;
          for (int k = 0; k < 3; ++k) size += std::abs(gradients[0].get_f64(3 * i + k));
          for (int k = 0; k < 9; ++k) size += std::abs(gradients[1].get_f64(9 * i + k));
          EXPECT_EQ(size > 0, cases[static_cast<std::size_t>(i)].seen) << i;
        }
        for (std::size_t k = 2; k < gradients.size(); ++k) {
          EXPECT_GT(largest(gradients[k]), 0) << k;
          const std::int64_t one = gradients[k].numel() / cameras;
          for (std::int64_t i = one; i < gradients[k].numel(); ++i) EXPECT_EQ(gradients[k].get_f64(i), 0) << k;
        }
      }
    }
}

}  // namespace
}  // namespace rlx::splat::testing
