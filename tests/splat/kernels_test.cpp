// Kernels that work on Gaussians, at every instruction level, and what they stand for, decomposed, against float64,
// which is decomposed; no bit depends on the number of threads. 1500 Gaussians are more than a block, and no whole
// number of vectors.
#include "compile/emit_llvm/emit_llvm.hpp"
#include "references.hpp"

#include <rlx/transform/vjp.hpp>

#include <random>

namespace rlx::splat::testing {
namespace {

constexpr std::int64_t gaussian_count = 1500;

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : words_(seed) {}
  double operator()(double low, double high) {
    return low + (high - low) * static_cast<double>(words_() >> 11) * 0x1p-53;
  }
  std::vector<double> operator()(std::int64_t count, double low, double high) {
    std::vector<double> out;
    for (std::int64_t i = 0; i < count; ++i) out.push_back((*this)(low, high));
    return out;
  }

 private:
  std::mt19937_64 words_;
};

void expect_like_float64(const std::function<std::vector<HostTensor>(DType, Preference)>& with) {
  const auto of = [&](DType t) { return with(t, Preference::native); };
  const auto exact = of(DType::f64), best = of(DType::f32);
  const auto near_exact = [&](const std::vector<HostTensor>& got) {
    ASSERT_EQ(got.size(), exact.size());
    for (std::size_t k = 0; k < got.size(); ++k)
      EXPECT_LE(relative_difference(got[k], exact[k]), 1e-5) << "result " << k;
  };
  near_exact(best);
  {
    SCOPED_TRACE("decomposed");
    near_exact(with(DType::f32, Preference::force_common));
  }
  for (const char* level : {"generic", "avx2"})
    if (emit_llvm::best_host_isa() >= emit_llvm::parse_isa(level)) {
      SCOPED_TRACE(level);
      const Setting setting("RLX_ISA", level);
      near_exact(of(DType::f32));
    }
  for (const char* threads : {"1", "2", "3"}) {
    const Setting setting("RLX_THREADS", threads);
    const auto got = of(DType::f32);
    for (std::size_t k = 0; k < best.size(); ++k)
      EXPECT_TRUE(got[k].identical(best[k])) << threads << " threads, result " << k;
  }
}

/// Results and gradients to the wanted operands, with random cotangents; and that kernels made them, or none.
std::vector<HostTensor> with_gradients(const Graph& f, std::vector<HostTensor> in, const std::vector<bool>& wanted,
                                       Preference preference) {
  const DType t = in[0].dtype();
  RandomNumbers number(8);
  std::vector<bool> given;
  for (const ValueId v : f.outputs()) {
    const TensorType& type = f.tensor_type(v);
    given.push_back(is_floating(type.dtype));
    if (given.back())
      in.push_back(HostTensor::from(t, constant_shape(type.shape), number(type.numel().constant(), -1, 1)));
  }
  const Graph g = transform::vjp(f, catalog().operators, {wanted, given, true});
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog(), {.preference = preference});
  int kernels = 0;
  for (const ReportRow& row : e.report().rows) kernels += row.path == Path::native && row.op.starts_with("splat.");
  EXPECT_EQ(kernels, t == DType::f32 && preference == Preference::native ? 2 : 0);
  std::vector<HostTensor> out;
  for (const HostValue& v : e.run(HostValues(in.begin(), in.end()))) out.push_back(std::get<HostTensor>(v));
  return out;
}

// Two cameras' directions; harmonics that are stored but not used. No colour is near 0, where its gradient jumps, but
// every seventh is below.
TEST(ShColor, TheKernelAgreesWithFloat64) {
  for (const auto& [degree, stored, channels] : {std::array<std::int64_t, 3>{1, 9, 2}, {3, 16, 3}, {4, 25, 1}}) {
    SCOPED_TRACE(degree);
    RandomNumbers number(7);
    std::vector<double> directions = number(2 * gaussian_count * 3, -3, 3),
                        coefficients = number(gaussian_count * stored * channels, -0.1, 0.1);
    for (int k = 0; k < 3; ++k) directions[static_cast<std::size_t>(30 + k)] = 0;
    for (std::int64_t i = 0; i < gaussian_count; i += 7)
      coefficients[static_cast<std::size_t>(i * stored * channels)] = -9;
    expect_like_float64([&](DType t, Preference p) {
      const std::vector<HostTensor> in{HostTensor::from(t, {2, gaussian_count, 3}, directions),
                                       HostTensor::from(t, {gaussian_count, stored, channels}, coefficients)};
      return with_gradients(
          graph_of(in,
                   [&](Builder&, ValuesIn v) -> Values { return {sh_color(v[0], v[1], static_cast<int>(degree))}; }),
          in, {true, true}, p);
    });
  }
}

// Two cameras that see, and one between them that does not; some Gaussians are culled, for several reasons.
TEST(Project, TheKernelAgreesWithFloat64) {
  RandomNumbers number(9);
  std::vector<double> means = number(gaussian_count * 3, -1, 1), covariances;
  for (std::int64_t i = 0; i < gaussian_count; ++i) {
    // A A^T, of deviations from 0.03 to about 0.3.
    const std::vector<double> a = number(9, -0.15, 0.15);
    for (std::size_t r = 0; r < 9; ++r) {
      double sum = r % 4 == 0 ? 0.001 : 0;
      for (std::size_t k = 0; k < 3; ++k) sum += a[r / 3 * 3 + k] * a[r % 3 * 3 + k];
      covariances.push_back(sum);
    }
  }
  means[9] = std::nan(""), means[32] = -50, covariances[90] = INFINITY;
  const std::vector<double> views{1,   0, 0,   0.1, 0, 1, 0, -0.2, 0,    0, 1,   4,    0, 0, 0, 1,
                                  1,   0, 0,   0,   0, 1, 0, 0,    0,    0, 1,   1e30, 0, 0, 0, 1,
                                  0.8, 0, 0.6, 0,   0, 1, 0, 0,    -0.6, 0, 0.8, 5,    0, 0, 0, 1};
  const std::vector<double> lenses{60, 0, 48, 0, 66, 36, 0,  0, 1,  60, 0, 48, 0, 66,
                                   36, 0, 0,  1, 72, 0,  45, 0, 60, 39, 0, 0,  1};
  for (const CameraModel camera : {CameraModel::pinhole, CameraModel::ortho}) {
    SCOPED_TRACE(camera == CameraModel::ortho ? "orthographic" : "pinhole");
    expect_like_float64([&](DType t, Preference preference) {
      const std::vector<HostTensor> in{HostTensor::from(t, {gaussian_count, 3}, means),
                                       HostTensor::from(t, {gaussian_count, 3, 3}, covariances),
                                       HostTensor::from(t, {3, 4, 4}, views), HostTensor::from(t, {3, 3, 3}, lenses)};
      const Graph f = graph_of(in, [&](Builder&, ValuesIn v) -> Values {
        const Projected p =
            project(v[0], v[1], v[2], v[3], {.width = 96, .height = 72, .camera = camera, .radius_clip = 5});
        return {p.radii, p.means, p.depths, p.conics, p.compensations};
      });
      auto out = with_gradients(f, in, {true, true, true, false}, preference);
      std::int64_t seen = 0;
      for (std::int64_t i = 0; i < 3 * gaussian_count; ++i) seen += out[0].get_i64(2 * i) > 0;
      EXPECT_GT(seen, camera == CameraModel::ortho ? gaussian_count / 2 : gaussian_count);
      EXPECT_LT(seen, 2 * gaussian_count - 3);
      out.erase(out.begin());  // Radii are rounded up: operators_test.cpp compares them.
      return out;
    });
  }
}

}  // namespace
}  // namespace rlx::splat::testing
