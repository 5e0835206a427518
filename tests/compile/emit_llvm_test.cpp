// Kernels by hand against plain loops: shapes of access, loops, reductions, branches, checks, at every level.
#include "kernel_program.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

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

TEST(EmitLlvm, SumsOfRowsAndColumns) {
  for (std::int64_t n : {1, 7, 16, 100, 1000, 4097}) {
    const std::int64_t m = 9;
    Program p;
    std::vector<Value> b = {p.buffer(DType::f32, m * n), p.buffer(DType::f32, m), p.buffer(DType::f32, n)};
    p.kernel({m}, {b[0], b[1]}, 1, [n](const Body& k) {
      const Value row = k.times(k.index[0], n);
      k.store(1, k.index[0], k.sum(k.i64(0), k.i64(n), k.number(DType::f32, 0), [&](Value j) {
        const Value x = k.load(0, k.add(row, j));
        return k.mul(x, x);
      }));
    });
    p.kernel({n}, {b[0], b[2]}, 1, [n](const Body& k) {
      k.store(1, k.index[0], k.sum(k.i64(0), k.i64(m), k.number(DType::f32, 0), [&](Value i) {
        return k.load(0, k.add(k.times(i, n), k.index[0]));
      }));
    });
    const HostTensor x = random_tensor(DType::f32, m * n, 4);
    const auto r = run_everywhere(p, {x, HostTensor(DType::f32, {m}), HostTensor(DType::f32, {n})}, false);
    for (std::int64_t i = 0; i < m; ++i) {
      double s = 0;
      for (std::int64_t j = 0; j < n; ++j) s += x.get_f64(i * n + j) * x.get_f64(i * n + j);
      EXPECT_NEAR(r[1].get_f64(i), s, 1e-5 * s) << n;
    }
    for (std::int64_t j = 0; j < n; ++j) {
      float s = 0;
      for (std::int64_t i = 0; i < m; ++i) s += static_cast<float>(x.get_f64(i * n + j));
      EXPECT_NEAR(r[2].get_f64(j), s, 1e-5);
    }
  }
}

// Bounds from memory: row lengths differ between lanes, or a reduction's length is unknown when compiled.
TEST(EmitLlvm, RaggedRows) {
  const std::int64_t rows = 50, most = 40;
  std::mt19937 g(5);
  HostTensor offsets(DType::i64, {rows + 1});
  for (std::int64_t i = 0; i < rows; ++i)
    offsets.set_i64(i + 1, offsets.get_i64(i) + static_cast<std::int64_t>(g() % most) * (i % 3 != 0));
  const std::int64_t entries = offsets.get_i64(rows);
  Program p;
  std::vector<Value> b = {p.buffer(DType::i64, rows + 1), p.buffer(DType::i64, entries), p.buffer(DType::f64, entries),
                          p.buffer(DType::f64, rows),     p.buffer(DType::f64, rows),    p.buffer(DType::i64, rows)};
  p.kernel({rows}, b, 3, [](const Body& k) {
    const Value i = k.index[0], low = k.load(0, i), high = k.load(0, k.plus(i, 1));
    k.store(3, i, k.sum(low, high, k.number(DType::f64, 0), [&](Value e) {
      return k.mul(k.load(2, e), k.load(2, k.load(1, e)));
    }));
    const Values last = k.loop(low, high, {k.number(DType::f64, -1), k.i64(0)},
                               [&](Value e, ValuesIn s) { return Values{k.load(2, e), k.add(s[1], k.i64(1))}; });
    k.store(4, i, last[0]);
    k.store(5, i, last[1]);
  });
  const HostTensor index = random_tensor(DType::i64, entries, 6, 0, static_cast<double>(entries - 1)),
                   x = random_tensor(DType::f64, entries, 7);
  const auto r = run_everywhere(p,
                                {offsets, index, x, HostTensor(DType::f64, {rows}), HostTensor(DType::f64, {rows}),
                                 HostTensor(DType::i64, {rows})},
                                false);
  for (std::int64_t i = 0; i < rows; ++i) {
    double s = 0, last = -1;
    for (std::int64_t e = offsets.get_i64(i); e < offsets.get_i64(i + 1); ++e) {
      s += x.get_f64(e) * x.get_f64(index.get_i64(e));
      last = x.get_f64(e);
    }
    EXPECT_NEAR(r[3].get_f64(i), s, 1e-13 * 40);
    EXPECT_EQ(r[4].get_f64(i), last);
    EXPECT_EQ(r[5].get_i64(i), offsets.get_i64(i + 1) - offsets.get_i64(i));
  }
}

// Value and index reduced together: ties go to the first index whatever the lanes do.
TEST(EmitLlvm, ArgMax) {
  for (std::int64_t n : {1, 5, 64, 333}) {
    const std::int64_t m = 4;
    Program p;
    std::vector<Value> b = {p.buffer(DType::f32, m * n), p.buffer(DType::f32, m), p.buffer(DType::i64, m)};
    p.kernel({m}, b, 2, [n](const Body& k) {
      const Value row = k.times(k.index[0], n);
      const Values best = k.reduce(
          k.i64(0), k.i64(n), {k.number(DType::f32, -std::numeric_limits<double>::infinity()), k.i64(INT64_MAX)},
          [&](Value j) { return Values{k.load(0, k.add(row, j)), j}; },
          [&](ValuesIn a, ValuesIn c) {
            const Value greater = k.compare(a[0], c[0], Direction::gt), tie = k.compare(a[0], c[0], Direction::eq);
            const Value left = k.op("or", {greater, k.op("and", {tie, k.compare(a[1], c[1], Direction::lt)})});
            return Values{k.op("select", {left, a[0], c[0]}), k.op("select", {left, a[1], c[1]})};
          });
      k.store(1, k.index[0], best[0]);
      k.store(2, k.index[0], best[1]);
    });
    const HostTensor x = random_tensor(DType::i32, m * n, 8, -4, 4);
    HostTensor y(DType::f32, {m * n});
    for (std::int64_t i = 0; i < m * n; ++i) y.set_f64(i, x.get_f64(i));
    const auto r = run_everywhere(p, {y, HostTensor(DType::f32, {m}), HostTensor(DType::i64, {m})});
    for (std::int64_t i = 0; i < m; ++i) {
      std::int64_t best = 0;
      for (std::int64_t j = 1; j < n; ++j)
        if (y.get_f64(i * n + j) > y.get_f64(i * n + best)) best = j;
      EXPECT_EQ(r[2].get_i64(i), best) << n;
    }
  }
}

// Branches that lanes take differently, around loads that only some lanes may do and around stores.
TEST(EmitLlvm, Branches) {
  const std::int64_t n = 100;
  Program p;
  std::vector<Value> b = {p.buffer(DType::f32, n), p.buffer(DType::i64, n), p.buffer(DType::f32, n),
                          p.buffer(DType::f32, n), p.buffer(DType::f32, n)};
  p.kernel({n}, b, 3, [](const Body& k) {
    const Value i = k.index[0], at = k.load(1, i);
    const Value inside =
        k.op("and", {k.compare(at, k.i64(0), Direction::ge), k.compare(at, k.i64(100), Direction::lt)});
    const Value x =
        k.branch(inside, [&] { return Values{k.load(0, at)}; }, [&] { return Values{k.number(DType::f32, -5)}; })[0];
    k.store(2, i, x);
    k.branch(
        inside,
        [&] {
          k.store(3, at, k.number(DType::f32, 1));
          return Values{};
        },
        [&] { return Values{}; });
    const Value cheap = k.branch(inside, [&] { return Values{k.add(x, x)}; }, [&] { return Values{x}; })[0];
    // A uniform predicate: a real branch.
    const Value first = k.load(1, k.i64(0));
    k.store(4, i,
            k.branch(
                k.compare(first, k.i64(0), Direction::ge), [&] { return Values{k.mul(cheap, k.load(0, i))}; },
                [&] { return Values{k.load(0, k.i64(3))}; })[0]);
  });
  const HostTensor x = random_tensor(DType::f32, n, 9);
  HostTensor at(DType::i64, {n});
  for (std::int64_t i = 0; i < n; ++i) at.set_i64(i, i % 3 ? (i * 37) % n : i % 2 ? -1000000000 : 1000000000);
  for (std::int64_t first : {4, -4}) {
    at.set_i64(0, first);
    const auto r = run_everywhere(
        p, {x, at, HostTensor(DType::f32, {n}), HostTensor(DType::f32, {n}), HostTensor(DType::f32, {n})});
    std::vector<float> hit(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t a = at.get_i64(i);
      const bool inside = a >= 0 && a < n;
      const auto v = static_cast<float>(inside ? x.get_f64(a) : -5);
      EXPECT_EQ(r[2].get_f64(i), v);
      EXPECT_EQ(r[4].get_f64(i), first >= 0 ? (inside ? v + v : v) * static_cast<float>(x.get_f64(i)) : x.get_f64(3));
      if (inside) hit[static_cast<std::size_t>(a)] = 1;
    }
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(r[3].get_f64(i), hit[static_cast<std::size_t>(i)]);
  }
}

// An independent loop inside takes the lanes where the last dimension is not contiguous.
TEST(EmitLlvm, InnerLoopTakesLanes) {
  const std::int64_t m = 6, n = 53;
  Program p;
  std::vector<Value> b = {p.buffer(DType::f32, m * n), p.buffer(DType::f32, m * n)};
  p.kernel({m}, b, 1, [](const Body& k) {
    const Value row = k.times(k.index[0], n);
    const Value total = k.sum(k.i64(0), k.i64(n), k.number(DType::f32, 0),
                              [&](Value j) { return k.op("exp", {k.load(0, k.add(row, j))}); });
    k.loop(k.i64(0), k.i64(n), {},
           [&](Value j, ValuesIn) {
             const Value at = k.add(row, j);
             k.store(1, at, k.op("div", {k.op("exp", {k.load(0, at)}), total}));
             return Values{};
           },
           {.independent = true});
  });
  const HostTensor x = random_tensor(DType::f32, m * n, 10);
  const auto r = run_everywhere(p, {x, HostTensor(DType::f32, {m * n})}, false);
  for (std::int64_t i = 0; i < m; ++i) {
    double total = 0;
    for (std::int64_t j = 0; j < n; ++j) total += std::exp(x.get_f64(i * n + j));
    for (std::int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(r[1].get_f64(i * n + j), std::exp(x.get_f64(i * n + j)) / total, 1e-7);
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
    EXPECT_EQ(r.what, "");
    HostTensor y = x;
    y.set_i64(77003, n + 5);
    y.set_i64(77001, n + 9);
    y.set_i64(99999, n + 1);
    run(*device, p.graph(), {y, HostTensor(DType::i64, {n})}, &r);
    EXPECT_EQ(r.what, "test index");
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
