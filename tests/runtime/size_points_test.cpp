// Sizes that nothing bounds: the host reads the count, and what follows is compiled for a rounded size.
#include "runtime/sizes_support.hpp"

#include "compile/sizes/size_points.hpp"

#include <rlx/compile/report.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <thread>

namespace rlx::sizes {
namespace {

std::vector<std::string> compiling_devices() {
  std::vector<std::string> out = devices();
  std::erase(out, "reference");
  return out;
}

// x by counts: squares of what is repeated, their sum, and the exponentials of x, which no size concerns.
Graph repeated_squares(const std::vector<HostTensor>& in) {
  return graph_of(in, [](ValuesIn v) {
    const Value e = ops::exp(v[1]), twice = ops::take(v[1], ops::repeat(v[0], size())[0], 0);
    return Values{twice * twice, ops::reduce_sum(twice * twice, {0}), e, ops::dim_size(*e.builder, size())};
  });
}
std::vector<Doubles> loops(const Doubles& counts, const Doubles& x) {
  Doubles squares, e;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares.insert(squares.end(), static_cast<std::size_t>(std::max(counts[i], 0.0)), x[i] * x[i]);
    e.push_back(std::exp(x[i]));
  }
  return {squares, {std::accumulate(squares.begin(), squares.end(), 0.0)}, e, {static_cast<double>(squares.size())}};
}

TEST(SizePoints, RoundUpToEightAnOctave) {
  EXPECT_EQ(compile::rounded_capacity(0), 16);
  EXPECT_EQ(compile::rounded_capacity(16), 16);
  EXPECT_EQ(compile::rounded_capacity(17), 18);
  EXPECT_EQ(compile::rounded_capacity(1000), 1024);
  EXPECT_EQ(compile::rounded_capacity(1025), 1152);
  EXPECT_EQ(compile::rounded_capacity(INT32_MAX - 1), INT32_MAX);
  EXPECT_EQ(compile::rounded_capacity(std::int64_t{INT32_MAX} + 1), std::int64_t{1} << 31);
  EXPECT_EQ(compile::rounded_capacity(std::int64_t{INT32_MAX} + 2), std::int64_t{9} << 28);
  std::int64_t last = 16, steps = 0;
  for (std::int64_t k = 16; k <= 1 << 20; k += k / 64 + 1) {
    const std::int64_t r = compile::rounded_capacity(k);
    EXPECT_GE(r, k);
    EXPECT_LE(r - k, k / 8);
    EXPECT_GE(r, last);
    steps += r > last;
    last = r;
  }
  EXPECT_LE(steps, 8 * 16);
}

TEST(SizePoints, OneProgramServesEveryCount) {
  const Doubles x{1, -2, 3, 0.5};
  const std::vector<HostTensor> like{vector_of(DType::i32, {0, 0, 0, 0}), vector_of(DType::f64, x)};
  const Graph g = repeated_squares(like);
  for (const std::string& device : compiling_devices())
    for (const bool exact : {false, true}) {
      SCOPED_TRACE(device + (exact ? ", exact" : ""));
      const runtime::Executable e(runtime::open_device(device), g, catalog(), {.exact_sizes = exact});
      for (const Doubles& counts : {Doubles{1, 0, 2, -1}, Doubles{0, 0, 0, 0}, Doubles{100, 0, 3, 40},
                                    Doubles{1, 0, 2, -1}, Doubles{0, 7, 9, 0}, Doubles{0, 7, 9, 1}}) {
        const HostValues out = e.run(HostValues{vector_of(DType::i32, counts), like[1]});
        const std::vector<Doubles> expected = loops(counts, x);
        ASSERT_EQ(out.size(), expected.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
          const Doubles got = elements(out[i]);
          ASSERT_EQ(got.size(), expected[i].size());
          for (std::size_t j = 0; j < got.size(); ++j)
            EXPECT_NEAR(got[j], expected[i][j], 1e-12 * std::abs(expected[i][j]));
        }
      }
      const runtime::ExecutableStatistics s = e.statistics();
      EXPECT_EQ(s.calls, 6);
      EXPECT_LE(s.codes, s.programs);
      if (device != "null") EXPECT_GE(s.codes, 2) << "of the head and of a tail";
    }
}

TEST(SizePoints, MemoryFollowsTheCount) {
  const std::vector<HostTensor> like{vector_of(DType::i32, {0, 0}), vector_of(DType::f64, {1, 2})};
  const runtime::Executable e(runtime::open_device("cpu"), repeated_squares(like), catalog());
  const auto run = [&](double n) { e.run(HostValues{vector_of(DType::i32, {n, 0}), like[1]}); };
  run(1 << 20);
  EXPECT_GT(e.bytes_per_call(), std::int64_t{8} << 20);
  run(10);
  EXPECT_LT(e.bytes_per_call(), 1 << 16);
}

TEST(SizePoints, TheReportIsThatOfTheWholeGraph) {
  const std::vector<HostTensor> in{vector_of(DType::i32, {1, 2}), vector_of(DType::f64, {1, 2})};
  const Graph g = repeated_squares(in);
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
  ASSERT_EQ(e.report().rows.size(), g.region(Graph::top).nodes.size());
  std::map<std::string, const ReportRow*> rows;
  for (const ReportRow& r : e.report().rows) {
    rows[r.op] = &r;
    EXPECT_NE(r.path, Path::unresolved) << r.op;
    EXPECT_FALSE(r.lowering.empty()) << r.op;
  }
  EXPECT_EQ(rows["repeat"]->value, "%3");
  EXPECT_NE(std::find(rows["repeat"]->notes.begin(), rows["repeat"]->notes.end(), "size point: host reads k"),
            rows["repeat"]->notes.end());
  EXPECT_EQ(std::count_if(e.report().steps.begin(), e.report().steps.end(),
                          [](const StepRow& s) { return s.kind == "size point" && s.name == "k"; }),
            1);
  EXPECT_EQ(e.report().unresolved(), 0u);
  // What comes after the point costs what only the call knows.
  bool after = false;
  for (const StepRow& s : e.report().steps) {
    after = after || s.kind == "size point";
    EXPECT_EQ(s.bytes.has_value(), !after) << s.name;
    if (after) { EXPECT_FALSE(s.flops) << s.name; }
  }
  EXPECT_EQ(rows["mul"]->flops, 0);
}

TEST(SizePoints, SizesInTurn) {
  // Counts of counts: what is repeated says how often it is repeated.
  const std::vector<HostTensor> in{vector_of(DType::i32, {3, 0, 2})};
  const Graph g = graph_of(in, [](ValuesIn v) {
    const Value once = ops::take(v[0], ops::repeat(v[0], size("k"))[0], 0);
    const Values again = ops::repeat(once, size("m"));
    // The last one asks for k by its name.
    const Value thirds = ops::repeat(ops::full(*once.builder, DType::i32, {size("k")}, 3), size("n"))[0];
    return Values{once, again[0], again[1], ops::dim_size(*once.builder, size("m") - size("k")), thirds};
  });
  Doubles once{3, 3, 3, 2, 2}, owner, rank;
  for (std::size_t i = 0; i < once.size(); ++i)
    for (int j = 0; j < once[i]; ++j) owner.push_back(static_cast<double>(i)), rank.push_back(j);
  Doubles thirds;
  for (double i = 0; i < 5; ++i) thirds.insert(thirds.end(), 3, i);
  expect_everywhere(g, in, {once, owner, rank, {13 - 5}, thirds});
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
  EXPECT_EQ(e.report().rows.size(), g.region(Graph::top).nodes.size());
  EXPECT_EQ(std::count_if(e.report().steps.begin(), e.report().steps.end(),
                          [](const StepRow& s) { return s.kind == "size point"; }),
            3);
}

TEST(SizePoints, TheTailTakesWhatTheHeadHasComputed) {
  // What a mask takes of x, sorted, each as often as it says; pairs of them, whose buffer has two such dimensions.
  const auto call = [](Flags mask, Doubles x) {
    Doubles sorted, repeated, pairs;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (mask[i]) sorted.push_back(x[i]);
    std::sort(sorted.begin(), sorted.end());
    for (double s : sorted) repeated.insert(repeated.end(), static_cast<std::size_t>(s), s);
    for (double a : sorted)
      for (double b : sorted) pairs.push_back(a * b);
    const double sum = std::accumulate(repeated.begin(), repeated.end(), 0.0);
    return Call{{mask_of(mask), vector_of(DType::f64, x)},
                {repeated, sorted, pairs, {sum + std::accumulate(pairs.begin(), pairs.end(), 0.0)}}};
  };
  const std::vector<Call> calls{call({1, 0, 1, 1, 1}, {3, 9, 1, 0, 2}), call({0, 0, 0, 0, 0}, {3, 9, 1, 0, 2}),
                                call({1, 1, 1, 1, 1}, {40, 9, 31, 7, 2}), call({0, 0, 1, 0, 0}, {3, 9, 1, 0, 2})};
  const Graph g = graph_of(calls[0].in, [](ValuesIn v) {
    const Dim k = size("k");
    const Value taken = ops::take(v[1], ops::nonzero(v[0], k), 0), sorted = ops::sort({&taken, 1}, {.axis = 0})[0];
    const Value pairs = ops::broadcast(sorted, {k, k}, {0}) * ops::broadcast(sorted, {k, k}, {1});
    const Value often = ops::convert(sorted, DType::i32) + ops::convert(ops::reduce_sum(pairs * 0.0, {1}), DType::i32);
    const Value repeated = ops::take(sorted, ops::repeat(often, size("m"))[0], 0);
    return Values{repeated, sorted, pairs, ops::reduce_sum(repeated, {0}) + ops::reduce_sum(pairs, {0, 1})};
  });
  expect_on(quick_devices, g, calls);
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog(), {});
  int sorts = 0;
  for (const ReportRow& r : e.report().rows)
    if (r.op == "sort" || r.op == "nonzero") {
      EXPECT_FALSE(r.steps.empty());
      for (const std::string& s : r.steps) sorts += s.find("sort") != std::string::npos;
    }
  EXPECT_EQ(sorts, 1) << e.report().to_table();
}

TEST(SizePoints, ExactSizesNeedNoBoundedForm) {
  // Splits [2, k] into rows of one: along k nothing may be padded.
  const std::vector<HostTensor> in{mask_of({1, 0, 1, 1}), vector_of(DType::f64, {1, 2, 3, 4, 5, 6, 7, 8}, {2, 4})};
  const Graph g = graph_of(in, [](ValuesIn v) {
    return Values{ops::reshape(ops::take(v[1], ops::nonzero(v[0], size()), 1), {size() * 2})};
  });
  for (const std::string& device : compiling_devices()) {
    EXPECT_THROW(run(g, in, device), CompileError);
    EXPECT_EQ(elements(run(g, in, device, {.exact_sizes = true})[0]), (Doubles{1, 3, 4, 5, 7, 8}));
  }
}

TEST(SizePoints, ACountThatFitsNothingLeavesTheProgramWhole) {
  // Pairs of what a mask takes: an odd number of elements has no such shape.
  const auto input = [](Flags f) { return HostValues{mask_of(f), vector_of(DType::f64, {1, 2, 3, 4})}; };
  const std::vector<HostTensor> like{mask_of({1, 0, 1, 0}), vector_of(DType::f64, {1, 2, 3, 4})};
  const Graph g = graph_of(like, [](ValuesIn v) {
    return Values{ops::reshape(ops::take(v[1], ops::nonzero(v[0], size()), 0), {floordiv(size(), 2), 2})};
  });
  for (const std::string& device : compiling_devices()) {
    const runtime::Executable e(runtime::open_device(device), g, catalog(), {.exact_sizes = true});
    EXPECT_THROW(e.run(input({1, 0, 0, 0})), VerifyError);
    EXPECT_EQ(e.statistics().calls, 1);
    EXPECT_EQ(elements(e.run(input({1, 0, 0, 1}))[0]), (Doubles{1, 4}));
  }
}

TEST(SizePoints, ATargetMayTakeNone) {
  const std::vector<HostTensor> in{vector_of(DType::i32, {1, 2}), vector_of(DType::f64, {1, 2})};
  const Graph g = repeated_squares(in);
  Target target{.device = "made_up"};
  target.size_points = false;
  EXPECT_FALSE(compile::has_size_point(g, target, {}));
  try {
    compile_program(g, catalog().operators, target, {});
    ADD_FAILURE() << "accepted";
  } catch (const CompileError& e) {
    EXPECT_NE(std::string(e.what()).find("size k has no upper bound"), std::string::npos) << e.what();
  }
  target.bounded_sizes = false;
  const Graph masked = graph_of({mask_of({1, 0})}, [](ValuesIn v) { return Values{ops::nonzero(v[0], size())}; });
  try {
    compile_program(masked, catalog().operators, target, {});
    ADD_FAILURE() << "accepted";
  } catch (const CompileError& e) {
    EXPECT_NE(std::string(e.what()).find("made_up takes no sizes that results introduce"), std::string::npos)
        << e.what();
  }
}

TEST(SizePoints, CallsOfSeveralThreads) {
  const Doubles x{1, 2, 3};
  const std::vector<HostTensor> like{vector_of(DType::i32, {0, 0, 0}), vector_of(DType::f64, x)};
  const runtime::Executable e(runtime::open_device("cpu"), repeated_squares(like), catalog());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 8; ++i) {
        const Doubles counts{static_cast<double>(t * 10), static_cast<double>(i), 1};
        const HostValues out = e.run(HostValues{vector_of(DType::i32, counts), like[1]});
        if (elements(out[0]) != loops(counts, x)[0]) ++wrong[t];
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

}  // namespace
}  // namespace rlx::sizes
