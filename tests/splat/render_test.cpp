// Whole renders and their gradients against the stored ones of gsplat, and against float64.
#include "render_reference.hpp"

#include <rlx/ops/build.hpp>
#include <rlx/transform/vjp.hpp>

namespace rlx::splat::testing {
namespace {

struct Render {
  std::string name, camera, mode;
  int degree;
  std::string channels;
  bool background;
};

/// "pinhole_classic_sh3_RGB_ED_bg".
Render parse(const std::string& name) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= name.size();) {
    const std::size_t to = std::min(name.find('_', from), name.size());
    words.push_back(name.substr(from, to - from));
    from = to + 1;
  }
  Render r{name, words[0], words[1], words[2][2] - '0', "RGB", words.back() == "bg"};
  if (words.size() > 4 && words[4] != "bg") r.channels = words[4];
  return r;
}

CameraModel model_of(const std::string& camera) {
  return camera == "ortho" ? CameraModel::ortho : camera == "fisheye" ? CameraModel::fisheye : CameraModel::pinhole;
}

/// Where cameras are, -R^T t: views [c, 4, 4] -> [c, 1, 3].
Value centres(Value views) {
  const Dim c = views.shape()[0];
  const Value rotation = ops::slice(views, {0, 0, 0}, {c, 3, 3}), shift = ops::slice(views, {0, 0, 3}, {c, 3, 4});
  return ops::reshape(ops::neg(ops::reduce_sum(rotation * shift, {1})), {c, 1, 3});
}

/// Operands, in this order.
enum { means, quats, scales, opacities, sh, views, lenses, operands };

struct Scene {
  std::vector<HostTensor> in;  // f32
  std::int64_t width, height;
};

/// Projection and colours: radii, means, depths, conics, opacities and features [c, n, ..].
Values splats(ValuesIn v, const Render& r, const Scene& s) {
  const Projected p = project(v[means], quat_scale_to_cov(v[quats], v[scales]), v[views], v[lenses],
                              {.width = s.width, .height = s.height, .camera = model_of(r.camera)});
  const Dim c = v[views].shape()[0], n = v[means].shape()[0];
  const Value all_opacities = ops::broadcast_to(v[opacities], {c, n});
  Value features = sh_color(ops::sub(v[means], centres(v[views])), v[sh], r.degree);
  if (r.channels != "RGB") features = ops::concat(Values{features, ops::reshape(p.depths, {c, n, 1})}, 2);
  return {
      p.radii, p.means, p.depths, p.conics, r.mode == "antialiased" ? all_opacities * p.compensations : all_opacities,
      features};
}

std::vector<double> backgrounds_of(const Render& r, std::int64_t cameras) {
  const std::int64_t f = r.channels == "RGB" ? 3 : 4;
  if (!r.background) return std::vector<double>(static_cast<std::size_t>(cameras * f), 0.0);
  return {0.2, 0.5, 0.7, 0.1, 0.0, 0.9};
}

Channels channels_of(const Render& r) {
  return r.channels == "ED" ? Channels::expected_depth : r.channels == "D" ? Channels::depth : Channels::rgb;
}

/// Image and alpha from the operands and backgrounds.
Graph pipeline(const std::vector<HostTensor>& in, const Render& r, const Scene& s, std::int64_t tile = 16) {
  return graph_of(in, [&](Builder&, ValuesIn v) -> Values {
    const Rendered out =
        render({v[means], v[quats], v[scales], v[opacities], v[sh]}, {v[views], v[lenses], v[operands]},
               {.project = {.width = s.width, .height = s.height, .camera = model_of(r.camera)},
                .degree = r.degree,
                .mode = r.mode == "antialiased" ? RenderMode::antialiased : RenderMode::classic,
                .channels = channels_of(r),
                .tile = tile,
                .entries = Dim::symbol("entries")});
    return {out.image, out.alpha};
  });
}

/// The first of x along its first dimension, which becomes 1.
HostTensor first_of(const HostTensor& x) {
  std::vector<std::int64_t> shape = x.shape();
  shape[0] = 1;
  HostTensor out(x.dtype(), shape);
  for (std::int64_t i = 0; i < out.numel(); ++i) out.set_f64(i, x.get_f64(i));
  return out;
}

/// What is compared with: float64 images, pixels left out, and operands of the pipeline in both types.
struct Setup {
  Splats splats;  // of `expected`
  ReferencePicture expected;
  double brightest;  // Of the colours of Gaussians and backgrounds.
  std::vector<HostTensor> f32, f64;
};
Setup set_up(const Scene& s, const Render& r) {
  Setup out;
  for (const HostTensor& x : s.in) out.f64.push_back(as(DType::f64, x));
  out.f32 = s.in;
  const auto exact = run(graph_of(out.f64, [&](Builder&, ValuesIn v) { return splats(v, r, s); }), out.f64);
  const std::int64_t cameras = s.in[views].shape()[0], f = r.channels == "RGB" ? 3 : 4;
  const std::vector<double> all = backgrounds_of(r, cameras), colours(all.begin(), all.begin() + cameras * 3);
  out.splats = {exact[0], exact[1], exact[2], exact[3], exact[4], exact[5]};
  out.expected = picture(out.splats, s.width, s.height, all, 1e-5);
  out.brightest = 1;
  for (std::int64_t i = 0; i < exact[5].numel(); ++i)
    if (i % f < 3) out.brightest = std::max(out.brightest, exact[5].get_f64(i));
  for (auto* in : {&out.f32, &out.f64}) in->push_back(HostTensor::from((*in)[0].dtype(), {cameras, 3}, colours));
  return out;
}

/// Largest difference of the pixels that are not close; both [c, h, w, f].
double worst(const HostTensor& got, const HostTensor& expected, const std::vector<bool>& close,
             std::int64_t channel_from, std::int64_t channel_to) {
  const std::int64_t f = got.shape().back();
  double m = 0;
  for (std::size_t p = 0; p < close.size(); ++p)
    for (std::int64_t k = channel_from; k < channel_to && !close[p]; ++k) {
      const auto i = static_cast<std::int64_t>(p) * f + k;
      const double d = std::abs(got.get_f64(i) - expected.get_f64(i));
      if (!(d <= m)) m = d;
    }
  return m;
}

/// Pixels that a threshold decides: how far the worst is beyond its largest share of a Gaussian that is decided about.
double beyond_share(const HostTensor& got, const HostTensor& expected, const ReferencePicture& p, double brightest) {
  const std::int64_t f = got.shape().back();
  double m = 0;
  for (std::size_t at = 0; at < p.close.size(); ++at)
    for (std::int64_t k = 0; k < std::min<std::int64_t>(f, 3) && p.close[at]; ++k) {
      const auto i = static_cast<std::int64_t>(at) * f + k;
      m = std::max(m, std::abs(got.get_f64(i) - expected.get_f64(i)) - p.share[at] * brightest);
    }
  return m;
}

/// Cotangents of image and alpha, 0 where a pixel is left out.
using Weight = std::function<double(std::int64_t channel, double x, double y)>;
std::vector<HostTensor> cotangents(DType t, const std::vector<std::int64_t>& shape, const std::vector<bool>* left_out,
                                   const Weight& image, const Weight& alpha) {
  std::vector<HostTensor> out{HostTensor(t, shape), HostTensor(t, {shape[0], shape[1], shape[2]})};
  for (std::int64_t p = 0; p < out[1].numel(); ++p) {
    if (left_out && (*left_out)[static_cast<std::size_t>(p)]) continue;
    const auto x = static_cast<double>(p % shape[2]), y = static_cast<double>(p / shape[2] % shape[1]);
    for (std::int64_t k = 0; k < shape[3]; ++k) out[0].set_f64(p * shape[3] + k, image(k, x, y));
    out[1].set_f64(p, alpha(0, x, y));
  }
  return out;
}

const char* const gradient_names[] = {"means", "quats", "scales", "opacities", "sh", "viewmats"};

/// Gradients of the first six operands.
std::vector<HostTensor> gradients(const Graph& f, std::vector<HostTensor> in, const std::vector<HostTensor>& with) {
  std::vector<bool> wanted(in.size(), false);
  std::fill(wanted.begin(), wanted.begin() + 6, true);
  in.insert(in.end(), with.begin(), with.end());
  return run(transform::vjp(f, catalog().operators, {wanted, {true, true}, false}), in);
}

/// The same without rasterize: its part is differentiated by the obvious renderer.
std::vector<HostTensor> obvious_gradients(const Setup& set, const Scene& s, const Render& r,
                                          std::vector<HostTensor> with) {
  // It has sums of depths D; the expected one is e = D / A, where A is alpha: de = dD / A - D / A^2 dA.
  for (std::int64_t p = 0; r.channels == "ED" && p < with[1].numel(); ++p) {
    const auto at = static_cast<std::size_t>(p);
    const double alpha = std::max(1 - set.expected.transmittance[at], 1e-10), weight = with[0].get_f64(4 * p + 3);
    with[0].set_f64(4 * p + 3, weight / alpha);
    with[1].set_f64(p, with[1].get_f64(p) - weight * set.expected.image[4 * at + 3] / (alpha * alpha));
  }
  const auto g = picture_gradients(set.splats, set.expected, s.width, s.height,
                                   backgrounds_of(r, s.in[views].shape()[0]), with[0], with[1]);
  std::vector<HostTensor> in = set.f64;
  in.pop_back();  // No background.
  const Graph f = graph_of(in, [&](Builder&, ValuesIn v) { return splats(v, r, s); });
  std::vector<bool> wanted(in.size(), false);
  std::fill(wanted.begin(), wanted.begin() + 6, true);
  in.insert(in.end(), {g.means, g.conics, g.opacities, g.features});
  return run(transform::vjp(f, catalog().operators, {wanted, {false, true, false, true, true, true}, false}), in);
}

/// What gradients are compared with in float64. The common-IR body as well, of the first camera: there all lists are
/// walked in lockstep, as many trips as the longest is long, which takes too long for a large scene.
enum class Float64 { obvious_renderer, common_ir_body_as_well };

/// Images against the file and float64; gradients against float64 and the file.
void check(const Reference& file, const Scene& s, const Render& r, const std::string& image_name,
           const std::string& alpha_name, const std::string& gradient_prefix, const Weight& image_weight,
           const Weight& alpha_weight, bool stored_views, Float64 by) {
  const Setup set = set_up(s, r);
  const Graph f = pipeline(set.f32, r, s);
  const auto got = run(f, set.f32);
  const std::int64_t channels = got[0].shape()[3];
  // Of 1e-5 relative about three thresholds, few pixels are close to one.
  EXPECT_LE(static_cast<double>(set.expected.close_count()), 0.01 * static_cast<double>(set.expected.close.size()));

  const HostTensor image = file(image_name), alpha = file(alpha_name).reshaped(got[1].shape());
  HostTensor exact = HostTensor::from(DType::f64, got[0].shape(), set.expected.image);
  if (r.channels == "ED")
    for (std::int64_t p = 0; p < got[1].numel(); ++p)
      exact.set_f64(4 * p + 3, exact.get_f64(4 * p + 3) /
                                   std::max(1 - set.expected.transmittance[static_cast<std::size_t>(p)], 1e-10));
  for (const HostTensor& expected : {image, exact}) {  // Of gsplat, and in float64, which no other program made.
    EXPECT_LE(worst(got[0], expected, set.expected.close, 0, 3), 1e-5) << r.name;
    EXPECT_LE(beyond_share(got[0], expected, set.expected, set.brightest), 1e-5) << r.name;
    if (channels == 3) continue;
    // Sums of depths are rounded relative to depths.
    const double within = r.channels == "ED" ? 2e-5 : 2e-5 * std::max(1.0, largest(image));
    EXPECT_LE(worst(got[0], expected, set.expected.close, 3, 4), within) << r.name;
  }
  EXPECT_LE(worst(got[1].reshaped({got[1].numel(), 1}), alpha, set.expected.close, 0, 1), 1e-5) << r.name;
  EXPECT_LE(beyond_share(got[1].reshaped({got[1].numel(), 1}), alpha, set.expected, 1), 1e-5) << r.name;

  const auto stored =
      gradients(f, set.f32, cotangents(DType::f32, got[0].shape(), nullptr, image_weight, alpha_weight));
  for (std::size_t k = 0; k < (stored_views ? 6u : 5u); ++k) {
    HostTensor expected = file(gradient_prefix + gradient_names[k]), ours = stored[k];
    if (k == sh && expected.shape() != ours.shape()) {  // The file has the coefficients that the degree reads.
      const std::int64_t used = expected.shape()[1] * 3, all = ours.shape()[1] * 3;
      HostTensor cut(DType::f32, expected.shape());
      for (std::int64_t i = 0; i < cut.numel(); ++i) cut.set_f64(i, ours.get_f64(i / used * all + i % used));
      ours = cut;
    }
    EXPECT_LE(relative_difference(ours, expected), 1e-3) << r.name << " " << gradient_names[k];
  }
  const auto left_out = &set.expected.close;
  const auto compare = [&](const std::vector<HostTensor>& rounded, const std::vector<HostTensor>& precise) {
    for (std::size_t k = 0; k < 6; ++k)
      EXPECT_LE(relative_difference(rounded[k], precise[k]), 1e-4) << r.name << " " << gradient_names[k];
  };
  const auto with = [&](DType t) { return cotangents(t, got[0].shape(), left_out, image_weight, alpha_weight); };
  compare(gradients(f, set.f32, with(DType::f32)), obvious_gradients(set, s, r, with(DType::f64)));
  if (by == Float64::obvious_renderer) return;
  const auto first = [&](const std::vector<HostTensor>& in) {
    std::vector<HostTensor> out = in;
    for (const int i : {views, lenses, operands})
      out[static_cast<std::size_t>(i)] = first_of(in[static_cast<std::size_t>(i)]);
    return out;
  };
  const std::vector<HostTensor> in32 = first(set.f32), in64 = first(set.f64);
  const HostTensor one = first_of(got[0]);
  const auto rounded =
      gradients(pipeline(in32, r, s), in32, cotangents(DType::f32, one.shape(), left_out, image_weight, alpha_weight));
  const auto precise = gradients(pipeline(in64, r, s, 8), in64,
                                 cotangents(DType::f64, one.shape(), left_out, image_weight, alpha_weight));
  compare(rounded, precise);
}

const Reference small("gsplat_ops.h5"), garden("gsplat_garden_small.h5");

class Renders : public ::testing::TestWithParam<const char*> {};

TEST_P(Renders, AgreeWithTheStoredOnes) {
  RLX_NEEDS(small);
  const Render r = parse(GetParam());
  Scene s{{}, small.number("width"), small.number("height")};
  for (const char* name : {"means", "quats_wxyz", "scales", "opacities", "sh", "viewmats"}) s.in.push_back(small(name));
  s.in.push_back(small(r.camera == "ortho" ? "Ks_ortho" : "Ks_pinhole"));
  check(
      small, s, r, r.name + "_out", r.name + "_alpha", r.name + "_grad_",
      [](std::int64_t k, double x, double y) {
        return std::sin((0.1 + 0.03 * static_cast<double>(k)) * x + 0.2 * y + static_cast<double>(k));
      },
      [](std::int64_t, double x, double y) { return std::cos(0.07 * x - 0.11 * y); }, true,
      Float64::common_ir_body_as_well);
}
INSTANTIATE_TEST_SUITE_P(Small, Renders,
                         ::testing::Values("pinhole_classic_sh0_RGB", "pinhole_classic_sh1_RGB",
                                           "pinhole_classic_sh2_RGB", "pinhole_classic_sh3_RGB",
                                           "pinhole_classic_sh4_RGB", "pinhole_classic_sh3_RGB_bg",
                                           "pinhole_classic_sh3_RGB_ED", "pinhole_antialiased_sh3_RGB",
                                           "pinhole_antialiased_sh3_RGB_D", "ortho_classic_sh3_RGB",
                                           "ortho_antialiased_sh3_RGB", "fisheye_classic_sh3_RGB",
                                           "fisheye_antialiased_sh3_RGB"),
                         [](const auto& r) { return std::string(r.param); });

TEST(GardenRender, AgreesWithTheStoredOne) {
  RLX_NEEDS(garden);
  const Render r{"garden", "pinhole", "classic", 3, "RGB", false};
  Scene s{{}, garden.number("width"), garden.number("height")};
  for (const char* name : {"means", "quats_wxyz", "scales", "opacities", "sh", "viewmats", "Ks"})
    s.in.push_back(garden(name));
  check(
      garden, s, r, "classic_rgb", "classic_alpha", "classic_grad_",
      [](std::int64_t k, double x, double y) {
        return k == 0 ? std::sin(0.1 * x + 0.2 * y) : k == 1 ? std::cos(0.15 * x - 0.1 * y) : std::sin(0.05 * x);
      },
      [](std::int64_t, double, double) { return 0.0; }, false, Float64::obvious_renderer);
}

}  // namespace
}  // namespace rlx::splat::testing
