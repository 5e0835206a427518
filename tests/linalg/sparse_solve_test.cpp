// The operators that solve with a sparse factorization, for one right side and for several: closed forms of inverses on
// each device, derivatives against differences and against each right side alone, and batches, which become one solve.
#include <rlx/catalog.hpp>
#include <rlx/handle.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/jit.hpp>
#include <rlx/linalg/linalg.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>
#include <rlx/transforms.hpp>

#include <cmath>
#include <functional>

#include "shared_matrices.hpp"

namespace rlx::linalg::testing {
namespace {

using c128 = std::complex<double>;

struct System {
  HostSparse a;
  bool definite = false;  // Also for Cholesky.
  std::function<c128(std::int64_t, std::int64_t)> inverse;
};
constexpr std::int64_t order = 6;

/// Second differences; an entry of the inverse is min(i, j) (n + 1 - max(i, j)) / (n + 1), counted from 1.
System string_of_masses() {
  std::vector<double> dense(order * order);
  for (std::int64_t i = 0; i < order; ++i)
    for (std::int64_t j = 0; j < order; ++j) dense[i * order + j] = i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0;
  return {to_host(from_dense(order, order, dense).view()), true, [](std::int64_t i, std::int64_t j) {
            return c128(static_cast<double>((std::min(i, j) + 1) * (order - std::max(i, j))) / (order + 1));
          }};
}

/// 1 on the diagonal, -q below it: the inverse has q^(i - j) from the diagonal downwards.
template <class T>
System geometric(T q) {
  std::vector<T> dense(order * order);
  for (std::int64_t i = 0; i < order; ++i) {
    dense[i * order + i] = 1;
    if (i > 0) dense[i * order + i - 1] = -q;
  }
  return {to_host(from_dense(order, order, dense).view()), false,
          [q](std::int64_t i, std::int64_t j) { return i < j ? c128(0) : std::pow(c128(q), static_cast<int>(i - j)); }};
}

HostValues solved(const std::string& device, bool cholesky, const HostSparse& a, const HostTensor& b,
                  const SparseSolveAttrs& attrs) {
  static const auto& catalog = *[] {
    auto* c = new runtime::Catalog(make_catalog());
    add_to(*c);
    return c;
  }();
  Graph g("test");
  Builder builder(g, catalog.operators);
  const Value m = builder.input(a.type, "A"),
              right = builder.input(tensor(b.dtype(), {b.shape().begin(), b.shape().end()}), "b");
  const SparseSolution s = cholesky ? sparse_cholesky_solve_measured(sparse_cholesky(m), m, right, attrs)
                                    : sparse_lu_solve_measured(sparse_lu(m), m, right, attrs);
  builder.output(s.x, "x");
  builder.output(s.backward_error, "backward_error");
  builder.output(s.relative_residual, "relative_residual");
  const HostValue in[] = {a, b};
  return runtime::Executable(runtime::open_device(device), g, catalog).run(in);
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
  static const auto& catalog = *[] {
    auto* c = new runtime::Catalog(make_catalog());
    add_to(*c);
    return c;
  }();
  Graph g("test");
  Builder b(g, catalog.operators);
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
        runtime::Executable(runtime::open_device(device), g, catalog)
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

// Derivatives. Four equations with a matrix of no symmetry, whose entries are parameters.
template <class T>
T some(double i) {
  if constexpr (std::is_same_v<T, double>) return std::sin(3 * i + 1);
  else return {std::sin(3 * i + 1), std::cos(2 * i)};
}
template <class T>
Tensor some_tensor(Extents shape, double seed) {
  std::vector<T> v(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = some<T>(seed + static_cast<double>(i));
  return Tensor::from(v, shape);
}
template <class T>
Csr some_matrix(double seed) {
  const std::vector<std::int32_t> offsets{0, 2, 5, 7, 10}, columns{0, 1, 0, 1, 3, 1, 2, 0, 2, 3};
  std::vector<T> values(10);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = some<T>(seed + static_cast<double>(k));
  for (const std::size_t diagonal : {0, 3, 6, 9}) values[diagonal] += 4;
  return to_csr(CsrView<T>{4, 4, offsets, columns, values});
}

Tensor by_lu(const Csr& a, const Tensor& b, const SparseSolveAttrs& attrs) {
  ensure_registered();
  return Tensor(build(
      {a, b}, [&](Builder&, ValuesIn v) { return Values{sparse_lu_solve(sparse_lu(v[0]), v[0], v[1], attrs)}; })[0]);
}

template <class T>
double difference(const Tensor& x, const Tensor& y) {
  return relative_difference(x.to_vector<T>(), y.to_vector<T>());
}

template <class T>
T inner(const Tensor& x, const Tensor& y) {
  const auto u = x.to_vector<T>(), v = y.to_vector<T>();
  T sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += conj_of(u[i]) * v[i];
  return sum;
}

template <class T>
void check_derivatives(const SparseSolveAttrs& attrs) {
  const Csr a = some_matrix<T>(0), da = some_matrix<T>(0.3);
  const Extents shape = attrs.axis == 0 ? Extents{4, 3} : Extents{3, 4};
  const Tensor b = some_tensor<T>(shape, 20), db = some_tensor<T>(shape, 40), w = some_tensor<T>(shape, 60);
  const auto f = [&](const Csr& m, const Tensor& right) { return by_lu(m, right, attrs); };
  const auto [x, dx] = jvp(f)(a, b, da, db);
  const auto moved = [&](double h) { return f(a.with_values(a.values() + h * da.values()), b + h * db); };
  // Central differences: h^2 of the third derivative, and rounding over h.
  EXPECT_LE(difference<T>(dx, (moved(1e-5) - moved(-1e-5)) / 2e-5), 1e-8);
  // The pullback is the adjoint of the derivative, with complex numbers as pairs of real ones.
  const auto [ga, gb] = vjp(f)(a, b).second(w);
  EXPECT_NEAR(real_of(inner<T>(ga.values(), da.values()) + inner<T>(gb, db)), real_of(inner<T>(w, dx)), 1e-13);
  EXPECT_EQ(ga.entries(), a.entries());
  // Each right side alone: the matrix' cotangent is the sum of theirs.
  Tensor sum = zeros({a.entries()}, x.dtype());
  const int across = 1 - attrs.axis;
  const auto one = [&](const Tensor& t, int c) { return reshape(slice_axis(t, across, c, c + 1), {4}); };
  for (int c = 0; c < 3; ++c) {
    const auto single = [&](const Csr& m, const Tensor& right) { return by_lu(m, right, {.mode = attrs.mode}); };
    EXPECT_LE(difference<T>(one(x, c), single(a, one(b, c))), 1e-14);
    const auto [ga1, gb1] = vjp(single)(a, one(b, c)).second(one(w, c));
    EXPECT_LE(difference<T>(one(gb, c), gb1), 1e-14);
    sum = sum + ga1.values();
  }
  EXPECT_LE(difference<T>(ga.values(), sum), 1e-14);
}

TEST(SparseSolve, DifferentiatesEveryMode) {
  for (const Transpose mode : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose})
    for (const int axis : {0, 1}) {
      SCOPED_TRACE(std::string(enum_names(mode)[std::size_t(mode)]) + " axis " + std::to_string(axis));
      check_derivatives<double>({.mode = mode, .axis = axis});
      check_derivatives<c128>({.mode = mode, .axis = axis});
    }
}

// Its derivatives are those of LU at a symmetric matrix, for which differences would have to stay symmetric.
TEST(SparseSolve, CholeskyDifferentiatesAsLuDoes) {
  const Csr a{Handle(HostValue(string_of_masses().a))}, da = a.with_values(some_tensor<double>({a.entries()}, 7));
  const Tensor b = some_tensor<double>({order}, 3), db = some_tensor<double>({order}, 5),
               w = some_tensor<double>({order}, 11);
  const auto lu = [](const Csr& m, const Tensor& right) { return linalg::solve(m, right); };
  const auto cholesky = [](const Csr& m, const Tensor& right) { return solve_positive_definite(m, right); };
  const auto [one, of_one] = vjp(lu)(a, b).second(w);
  const auto [other, of_other] = vjp(cholesky)(a, b).second(w);
  EXPECT_LE(difference<double>(one.values(), other.values()), 1e-13);  // The condition is 20.
  EXPECT_LE(difference<double>(of_one, of_other), 1e-13);
  EXPECT_LE(difference<double>(jvp(lu)(a, b, da, db).second, jvp(cholesky)(a, b, da, db).second), 1e-13);
}

std::size_t rows_of(const DispatchReport& report, std::string_view op) {
  return static_cast<std::size_t>(
      std::count_if(report.rows.begin(), report.rows.end(), [&](const ReportRow& r) { return r.op == op; }));
}

// A batch of right sides is one factorization and one solve, wherever its dimension is, and so is a batch of batches.
TEST(SparseSolve, BatchIsOneSolve) {
  const Csr a = some_matrix<double>(0);
  const auto f = [&](const Tensor& b) { return linalg::solve(a, b); };
  const auto check = [](const auto& batched, const Tensor& b, const Tensor& expected) {
    const auto program = jit(batched, {.device = "cpu"});
    EXPECT_LE(difference<double>(program(b), expected), 1e-14);
    EXPECT_EQ(rows_of(program.report(), "linalg.sparse_lu"), 1u) << program.report().to_table();
    EXPECT_EQ(rows_of(program.report(), "linalg.sparse_lu_solve"), 1u) << program.report().to_table();
    EXPECT_EQ(rows_of(program.report(), "while") + rows_of(program.report(), "scan"), 0u);
  };
  const Tensor rows = some_tensor<double>({5, 4}, 1), columns = transpose(rows), x = f(columns);
  check(vmap(f), rows, transpose(x));
  check(vmap(f, {1}, 1), columns, x);
  // Members [4, 3] at each place of the batch, and members of members.
  const Tensor b = some_tensor<double>({2, 4, 3}, 9);
  const auto member = [&](int i) { return f(reshape(slice_axis(b, 0, i, i + 1), {4, 3})); };
  const Tensor members = stack({member(0), member(1)});
  check(vmap(f), b, members);
  check(vmap(f, {1}, 1), transpose(b, {1, 0, 2}), transpose(members, {1, 0, 2}));
  check(vmap(f, {2}, 2), transpose(b, {1, 2, 0}), transpose(members, {1, 2, 0}));
  check(vmap(vmap(f)), transpose(b, {0, 2, 1}), transpose(members, {0, 2, 1}));
  check(vmap(vmap(f, {1}, 1)), b, members);
  // Not a batch at all: the members differ in what the matrix is made of.
  EXPECT_THROW(vmap([&](const Tensor& v) { return linalg::solve(a.with_values(v), zeros({4})); })(zeros({2, 10})),
               VerifyError);
}

TEST(SparseSolve, MeasuresOfABatchAreTheMembers) {
  const Csr a = some_matrix<double>(0);
  const auto measured = [&](const Tensor& b) {
    ensure_registered();
    const Handles r = build({a, b}, [](Builder&, ValuesIn v) {
      const SparseSolution s = sparse_lu_solve_measured(sparse_lu(v[0]), v[0], v[1], {.refine = 0});
      return Values{s.x, s.backward_error, s.relative_residual};
    });
    return std::array{Tensor(r[1]), Tensor(r[2])};
  };
  const Tensor b = some_tensor<double>({3, 4, 2}, 5);
  const auto [backward, relative] = vmap(measured)(b);
  EXPECT_EQ(backward.shape(), (Extents{3, 2}));
  for (int i = 0; i < 3; ++i) {
    const auto [one, of_b] = measured(reshape(slice_axis(b, 0, i, i + 1), {4, 2}));
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t at = static_cast<std::size_t>(i) * 2 + k;
      EXPECT_NEAR(backward.to_vector<double>()[at], one.to_vector<double>()[k], 2e-16);
      EXPECT_NEAR(relative.to_vector<double>()[at], of_b.to_vector<double>()[k], 1e-15);
    }
  }
}

}  // namespace
}  // namespace rlx::linalg::testing
