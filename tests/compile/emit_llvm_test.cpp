// Kernels by hand against plain loops, at every level: shapes of access, contraction, checks, the plan.
#include "kernel_program.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rlx::testing_kernels {
namespace {

using ops::Direction;

constexpr std::int64_t sizes[] = {0, 1, 7, 16, 17, 33, 1000};

TEST(EmitLlvm, ElementwiseSizes) {
  for (std::int64_t n : sizes) {
    Program p;
    std::vector<Value> b = {p.buffer(DType::f32, n), p.buffer(DType::f32, n), p.buffer(DType::f32, n)};
    p.kernel({n}, b, 1, [](const Body& k) {
      const Value i = k.index[0];
      k.store(2, i, k.op("div", {k.add(k.load(0, i), k.load(1, i)), k.number(DType::f32, 3)}));
    });
    const HostTensor x = random_tensor(DType::f32, n, 1), y = random_tensor(DType::f32, n, 2);
    const auto r = run_everywhere(p, {x, y, HostTensor(DType::f32, {n})});
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_EQ(r[2].as<float>()[static_cast<std::size_t>(i)],
                (x.as<float>()[static_cast<std::size_t>(i)] + y.as<float>()[static_cast<std::size_t>(i)]) / 3)
          << n << " " << i;
  }
}

TEST(EmitLlvm, NoWritesBeyondTheEnd) {
  Program p;
  std::vector<Value> b = {p.buffer(DType::f32, 64), p.buffer(DType::f32, 64)};
  p.kernel({21}, b, 1, [](const Body& k) { k.store(1, k.index[0], k.load(0, k.index[0])); });
  HostTensor x = random_tensor(DType::f32, 64, 3), y(DType::f32, {64});
  for (std::int64_t i = 0; i < 64; ++i) y.set_f64(i, -7);
  const auto r = run_everywhere(p, {x, y});
  for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(r[1].get_f64(i), i < 21 ? x.get_f64(i) : -7);
}

// Transposed, reversed, strided, broadcast and indirect reads; strided writes.
TEST(EmitLlvm, ShapesOfAccess) {
  for (auto [rows, columns] : {std::pair<std::int64_t, std::int64_t>{5, 7}, {33, 40}, {3, 1000}, {70, 3}, {1, 1}}) {
    const std::int64_t n = rows * columns;
    Program p;
    std::vector<Value> b = {p.buffer(DType::f64, n), p.buffer(DType::f64, columns), p.buffer(DType::i32, columns),
                            p.buffer(DType::f64, n), p.buffer(DType::f64, n)};
    p.kernel({rows, columns}, b, 2, [rows = rows, columns = columns](const Body& k) {
      const Value i = k.index[0], j = k.index[1];
      const Value at = k.add(k.times(i, columns), j), across = k.add(k.times(j, rows), i);
      const Value backwards = k.sub(k.i64(columns - 1), j);
      const Value picked = k.load(1, k.convert(k.load(2, j), DType::i64));
      const Value row_scale = k.load(1, k.op("rem", {i, k.i64(columns)}));
      const Value s = k.add(k.add(k.load(0, across), k.load(1, backwards)), k.add(picked, row_scale));
      k.store(3, at, s);
      k.store(4, across, s);
    });
    const HostTensor x = random_tensor(DType::f64, n, 1), v = random_tensor(DType::f64, columns, 2),
                     pick = random_tensor(DType::i32, columns, 3, 0, static_cast<double>(columns - 1));
    const auto r = run_everywhere(p, {x, v, pick, HostTensor(DType::f64, {n}), HostTensor(DType::f64, {n})});
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const double s = (x.get_f64(j * rows + i) + v.get_f64(columns - 1 - j)) +
                         (v.get_f64(pick.get_i64(j)) + v.get_f64(i % columns));
        ASSERT_EQ(r[3].get_f64(i * columns + j), s) << i << " " << j;
        ASSERT_EQ(r[4].get_f64(j * rows + i), s);
      }
  }
}

// Positions taken apart by division: the lanes of one vector pass a row's end at most once, or the rows are short.
TEST(EmitLlvm, DivisionOfPositions) {
  for (std::int64_t width : {3, 16, 17, 100, 1000}) {
    const std::int64_t n = 3000;
    Program p;
    std::vector<Value> b = {p.buffer(DType::i64, n), p.buffer(DType::i64, n)};
    p.kernel({n}, b, 2, [width](const Body& k) {
      const Value i = k.index[0], d = k.i64(width);
      k.store(0, i, k.op("div", {i, d}));
      k.store(1, i, k.op("rem", {k.plus(i, 5), d}));
    });
    const auto r = run_everywhere(p, {HostTensor(DType::i64, {n}), HostTensor(DType::i64, {n})});
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(r[0].get_i64(i), i / width);
      ASSERT_EQ(r[1].get_i64(i), (i + 5) % width) << i << " mod " << width;
    }
  }
}

// a * b + c is one fma everywhere or nowhere: the bits are those of std::fma in vectors, tails and scalar code.
TEST(EmitLlvm, Contraction) {
  const std::int64_t n = 1003;
  Program p;
  std::vector<Value> b = {p.buffer(DType::f32, n), p.buffer(DType::f32, n), p.buffer(DType::f32, n),
                          p.buffer(DType::f32, n)};
  p.kernel({n}, b, 2, [](const Body& k) {
    const Value i = k.index[0], x = k.load(0, i), y = k.load(1, i), c = k.load(1, k.i64(0));
    k.store(2, i, k.sub(k.mul(x, y), k.mul(c, c)));
    const Value twice = k.mul(x, y);
    k.store(3, i, k.add(twice, twice));
  });
  HostTensor x = random_tensor(DType::f32, n, 11), y = random_tensor(DType::f32, n, 12);
  // A product halfway between two floats, which the square, too small for a double beside it, takes past the middle.
  x.as_mutable<float>()[1] = -0x1.001p60f;
  y.as_mutable<float>()[1] = 0x1.001p0f;
  const auto r = run_everywhere(p, {x, y, HostTensor(DType::f32, {n}), HostTensor(DType::f32, {n})});
  const float c = y.as<float>()[0];
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const float a = x.as<float>()[i], d = y.as<float>()[i];
    volatile float square = c * c, product = a * d;
    EXPECT_EQ(r[2].as<float>()[i], std::fma(a, d, -square));
    EXPECT_EQ(r[3].as<float>()[i], product + product);
  }
}

TEST(EmitLlvm, ChecksReportTheFirstPoint) {
  const std::int64_t n = 100000;
  Program p;
  std::vector<Value> b = {p.buffer(DType::i64, n), p.buffer(DType::i64, n)};
  p.kernel({n}, b, 1, [](const Body& k) {
    const Value i = k.index[0], x = k.load(0, i);
    k.b.emit("lir.check", {k.compare(x, k.i64(n), Direction::lt), x}, lir::CheckAttrs{"test index"});
    k.store(1, i, x);
  });
  HostTensor x(DType::i64, {n});
  for (std::int64_t i = 0; i < n; ++i) x.set_i64(i, i);
  for (emit_llvm::Isa isa : host_levels()) {
    const auto device = device_of(isa, 4);
    runtime::CheckReport r;
    run(*device, p.graph(), {x, HostTensor(DType::i64, {n})}, &r);
    EXPECT_FALSE(r.refused());
    HostTensor y = x;
    y.set_i64(77003, n + 5);
    y.set_i64(77001, n + 9);
    y.set_i64(99999, n + 1);
    run(*device, p.graph(), {y, HostTensor(DType::i64, {n})}, &r);
    EXPECT_EQ(r.what.kind, "test index");
    EXPECT_EQ(r.index, n + 9);
  }
}

TEST(EmitLlvm, PlanTakesLanesWhereMemoryIsContiguous) {
  const emit_llvm::Machine machine{
      .triple = "x86_64-unknown-linux-gnu", .cpu = "x86-64-v4", .features = "", .isa = emit_llvm::Isa::avx512};
  Program p;
  std::vector<Value> b = {p.buffer(DType::f32, 100 * 200), p.buffer(DType::f32, 200), p.buffer(DType::f32, 100)};
  auto sum = [](const Body& k, std::int64_t outer, std::int64_t inner, std::int64_t n) {
    k.store(1, k.index[0], k.sum(k.i64(0), k.i64(n), k.number(DType::f32, 0), [&](Value j) {
      return k.load(0, k.add(k.times(k.index[0], outer), k.times(j, inner)));
    }));
  };
  p.kernel({200}, {b[0], b[1]}, 1, [&](const Body& k) { sum(k, 1, 200, 100); });
  p.kernel({100}, {b[0], b[2]}, 1, [&](const Body& k) { sum(k, 200, 1, 200); });
  const auto infos = emit_llvm::kernel_infos(emit_llvm::ProgramPlan(p.graph(), machine));
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[0].lanes, 16);
  EXPECT_EQ(infos[1].lanes, 1);
  const std::string text = emit_llvm::emit_text(p.graph(), machine, true);
  EXPECT_NE(text.find("<16 x float>"), std::string::npos);
}

TEST(EmitLlvm, RefusesTeams) {
  Graph g;
  Builder builder(g, registry());
  const Value x = builder.input(TensorType{DType::f32, {Dim(8)}, Space::host}, "x");
  const RegionBody body = [](ValuesIn) { return Values{}; };
  builder.emit("lir.kernel", ValuesIn(&x, 1),
               lir::KernelAttrs{.name = "k", .policy = lir::Policy::team, .extents = {2}, .team = {4}},
               std::span<const RegionBody>(&body, 1));
  EXPECT_THROW(device_of(emit_llvm::Isa::generic)->compile(g), DeviceError);
}

}  // namespace
}  // namespace rlx::testing_kernels
