// The operators that solve with a sparse factorization, for one right side and for several: closed forms of inverses on
// each device, and what is refused.
#include "linalg_catalog.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/linalg/linalg.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <cmath>
#include <functional>

#include "sparse_systems.hpp"

namespace rlx::linalg::testing {
namespace {

HostValues solved(const std::string& device, bool cholesky, const HostSparse& a, const HostTensor& b,
                  const SparseSolveAttrs& attrs) {
  Graph g("test");
  Builder builder(g, linalg_catalog().operators);
  const Value m = builder.input(a.type, "A"),
              right = builder.input(tensor(b.dtype(), {b.shape().begin(), b.shape().end()}), "b");
  const SparseSolution s = cholesky ? sparse_cholesky_solve_measured(sparse_cholesky(m), m, right, attrs)
                                    : sparse_lu_solve_measured(sparse_lu(m), m, right, attrs);
  builder.output(s.x, "x");
  builder.output(s.backward_error, "backward_error");
  builder.output(s.relative_residual, "relative_residual");
  const HostValue in[] = {a, b};
  return runtime::Executable(runtime::open_device(device), g, linalg_catalog()).run(in);
}

/// Right side c is c + 1 times unit vector c mod n, and 0 for each fifth: x is that many times a column of the inverse.
void expect_columns_of_the_inverse(const std::string& device, bool cholesky, const System& system,
                                   SparseSolveAttrs attrs, std::int64_t columns, bool vector = false) {
  SCOPED_TRACE(device + (cholesky ? " cholesky " : " lu ") +
               std::string(enum_names(attrs.mode)[std::size_t(attrs.mode)]) + " axis " + std::to_string(attrs.axis) +
               " columns " + std::to_string(columns));
  const auto scale = [](std::int64_t c) { return c % 5 == 4 ? 0.0 : static_cast<double>(c + 1); };
  const auto at = [&](std::int64_t i, std::int64_t c) { return attrs.axis == 0 ? i * columns + c : c * order + i; };
  HostTensor b(system.a.type.dtype, vector            ? std::vector{order}
                                    : attrs.axis == 0 ? std::vector{order, columns}
                                                      : std::vector{columns, order});
  for (std::int64_t c = 0; c < columns; ++c) b.set_c128(at(c % order, c), scale(c));
  const HostValues out = solved(device, cholesky, system.a, b, attrs);
  const auto &x = std::get<HostTensor>(out[0]), &backward = std::get<HostTensor>(out[1]),
             &relative = std::get<HostTensor>(out[2]);
  ASSERT_EQ(x.shape(), b.shape());
  for (const HostTensor* measure : {&backward, &relative}) {
    EXPECT_EQ(measure->dtype(), DType::f64);
    EXPECT_EQ(measure->shape(), vector ? std::vector<std::int64_t>{} : std::vector{columns});
  }
  for (std::int64_t c = 0; c < columns; ++c) {
    EXPECT_LE(backward.get_f64(c), 1e-15) << c;
    // |A| |x| / |b| is at most 4 * 1.8 for the one, 2 * 1 for the other.
    EXPECT_LE(relative.get_f64(c), 1e-14) << c;
    if (scale(c) == 0) { EXPECT_EQ(relative.get_f64(c), 0) << c; }
    for (std::int64_t i = 0; i < order; ++i) {
      const bool turned = attrs.mode != Transpose::none;
      c128 expected = scale(c) * (turned ? system.inverse(c % order, i) : system.inverse(i, c % order));
      if (attrs.mode == Transpose::conjugate_transpose) expected = std::conj(expected);
      // The larger condition is 20, of the second differences.
      EXPECT_LE(std::abs(x.get_c128(at(i, c)) - expected), 20 * 4 * unit_roundoff * std::max(1.0, scale(c)) * 2)
          << i << " " << c;
    }
  }
}

TEST(SparseSolve, GivesColumnsOfTheInverse) {
  for (const std::string device : {"cpu", "reference"})
    for (const System& system : {string_of_masses(), geometric(0.5), geometric(c128(0.3, -0.4))})
      for (const bool cholesky : {false, true}) {
        if (cholesky && !system.definite) continue;
        for (const Transpose mode : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
          expect_columns_of_the_inverse(device, cholesky, system, {.mode = mode}, 1, true);
          for (const int axis : {0, 1})
            for (const std::int64_t columns : {0, 1, 3, 37})  // None, one, a few, and more than are solved at once.
              expect_columns_of_the_inverse(device, cholesky, system, {.mode = mode, .axis = axis}, columns);
        }
      }
}

TEST(SparseSolve, OfNoUnknownsIsNothing) {
  const HostSparse empty = to_host(OwnedCsr<double>{}.view());
  for (const std::string device : {"cpu", "reference"}) {
    const HostValues out = solved(device, false, empty, HostTensor(DType::f64, {0, 3}), {});
    EXPECT_EQ(std::get<HostTensor>(out[0]).shape(), (std::vector<std::int64_t>{0, 3}));
    EXPECT_EQ(std::get<HostTensor>(out[1]).get_f64(2), 0);
  }
}

/// What solving [4 . .; . 3 .; 1 . 5] x = [4 6 16] throws where its arrays are others.
std::string refusal(const std::string& device, std::vector<double> offsets, std::vector<double> columns,
                    bool another = false) {
  Graph g("test");
  Builder b(g, linalg_catalog().operators);
  const auto vector = [](DType t, const std::vector<double>& v) {
    return HostTensor::from(t, {static_cast<std::int64_t>(v.size())}, v);
  };
  const Value o = b.input(i32({4}), "o"), c = b.input(i32({4}), "c"), v = b.input(f64({4}), "v"),
              a = b.emit1("sparse.assemble", {o, c, v}, ops::AssembleAttrs{3}),
              sound = b.input(SparseType{SparseFormat::csr, DType::f64, DType::i32, {3, 3}, 4}, "sound");
  b.output(sparse_lu_solve(sparse_lu(another ? sound : a), a, b.input(f64({3}), "b")), "x");
  const HostTensor right_offsets = vector(DType::i32, {0, 1, 2, 4}), right_columns = vector(DType::i32, {0, 1, 0, 2}),
                   values = vector(DType::f64, {4, 3, 1, 5});
  try {
    const HostValues x =
        runtime::Executable(runtime::open_device(device), g, linalg_catalog())
            .run(HostValues{
                vector(DType::i32, offsets), vector(DType::i32, columns), values,
                HostSparse{
                    {SparseFormat::csr, DType::f64, DType::i32, {3, 3}, 4}, right_offsets, right_columns, values},
                vector(DType::f64, {4, 6, 16})});
    EXPECT_EQ(std::get<HostTensor>(x[0]), vector(DType::f64, {1, 2, 3}));
  } catch (const ArgumentError& e) { return e.what(); }
  return {};
}

TEST(SparseSolve, ArraysThatDescribeNoMatrixAreRefused) {
  for (const std::string device : {"cpu", "reference"})
    for (const bool another : {false, true}) {  // The factorization is of the same matrix, or of a sound one.
      SCOPED_TRACE(device + (another ? ", another matrix" : ""));
      const std::string op = another ? "linalg.sparse_lu_solve: " : "linalg.sparse_lu: ";
      EXPECT_EQ(refusal(device, {0, 1, 2, 4}, {0, 1, 0, 2}, another), "");
      for (const double column : {3.0, -1.0, 2147483647.0})
        EXPECT_EQ(refusal(device, {0, 1, 2, 4}, {0, 1, 0, column}, another),
                  op + "column " + std::to_string(static_cast<std::int64_t>(column)) + " lies outside 0..2");
      EXPECT_EQ(refusal(device, {0, 2, 1, 4}, {0, 1, 0, 2}, another), op + "row offsets decrease after row 2");
      EXPECT_EQ(refusal(device, {1, 1, 2, 4}, {0, 1, 0, 2}, another), op + "the first row offset is 1, not 0");
      EXPECT_EQ(refusal(device, {0, 1, 2, 3}, {0, 1, 0, 2}, another), op + "the last row offset is 3 for 4 entries");
    }
}

TEST(SparseCholesky, RefusesWhatIsNotHermitianPositiveDefinite) {
  const auto refusal = [](const std::string& device, const auto& a, std::int64_t& info) -> std::string {
    const HostSparse matrix = to_host(a.view());
    try {
      const HostValues out =
          solved(device, true, matrix, HostTensor::from(matrix.type.dtype, {2}, std::vector{1., 2.}), {});
      return "x = " + std::to_string(std::get<HostTensor>(out[0]).get_f64(0));
    } catch (const NumericalError& e) {
      info = e.info();
      return e.op() + " " + e.what();
    }
  };
  const auto has = [](const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
  };
  for (const std::string device : {"cpu", "reference"}) {
    SCOPED_TRACE(device);
    std::int64_t info = -1;
    // Leading minors 1 and 1 - 4.
    std::string why = refusal(device, from_dense<double>(2, 2, {1, 2, 2, 1}), info);
    EXPECT_TRUE(has(why, "not positive definite: its leading minor of order 2")) << why;
    EXPECT_EQ(info, 2);
    why = refusal(device, from_dense<c128>(2, 2, {1, {0, 2}, {0, -2}, 1}), info);
    EXPECT_TRUE(has(why, "not positive definite: its leading minor of order 2")) << why;
    // A triangle alone, of either side, and a complex symmetric matrix.
    for (const std::vector<double>& m : {std::vector<double>{4, 0, 1, 3}, {4, 1, 0, 3}}) {
      why = refusal(device, from_dense<double>(2, 2, m), info);
      EXPECT_TRUE(has(why, "linalg.sparse_cholesky") && has(why, "is not symmetric") && has(why, "differ by 1;"))
          << why;
    }
    why = refusal(device, from_dense<c128>(2, 2, {4, {1, 1}, {1, 1}, 3}), info);
    EXPECT_TRUE(has(why, "is not Hermitian") && has(why, "differ by 2;")) << why;
    why = refusal(device, from_dense<c128>(2, 2, {{4, 1}, 0, 0, 3}), info);
    EXPECT_TRUE(has(why, "row 1, column 1 (counted from 1) and its conjugate")) << why;
    // Rounding of what assembled it is none of it: 4 x + y = 1, x + 3 y = 2.
    why = refusal(device, from_dense<double>(2, 2, {4, 1, 1 + 4e-16, 3}), info);
    EXPECT_TRUE(has(why, "x = 0.0909")) << why;
  }
}

}  // namespace
}  // namespace rlx::linalg::testing
