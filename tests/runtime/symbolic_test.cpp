// A graph with symbols is one program: plans for their values, code that all of these run.
#include "runtime/sizes_support.hpp"

#include <rlx/ir/text.hpp>

#include <random>
#include <thread>

namespace rlx::sizes::symbols {
namespace {

using runtime::Executable;

constexpr std::int64_t features = 24;

Type rows(DType t, std::vector<Dim> tail = {}) {
  Shape s{Dim::symbol("n")};
  s.insert(s.end(), tail.begin(), tail.end());
  return tensor(t, s);
}

Graph symbolic(const std::vector<Type>& inputs, const std::function<Values(ValuesIn)>& body,
               SymbolInfo n = {1, 1 << 20, 1}) {
  Graph g("symbolic");
  g.symbols.emplace("n", n);
  Builder b(g, catalog().operators);
  Values in;
  for (const Type& t : inputs) in.push_back(b.input(t, "x" + std::to_string(in.size())));
  for (const Value& v : body(in)) b.output(v, "y" + std::to_string(g.outputs().size()));
  verify(g, Level::hir);
  return g;
}

HostTensor random(DType t, std::vector<std::int64_t> shape, unsigned seed, double low = -1, double high = 1) {
  std::mt19937 g(seed);
  std::uniform_real_distribution<double> d(low, high);
  HostTensor x(t, std::move(shape));
  for (std::int64_t i = 0; i < x.numel(); ++i)
    is_floating(t) ? x.set_f64(i, d(g)) : x.set_i64(i, static_cast<std::int64_t>(std::floor(d(g))));
  return x;
}

// What a program over a batch holds: elementwise with a broadcast, rows, sums over the batch in one piece and in
// chunks, and indices into the batch.
Values batch(ValuesIn x) {
  const Value scaled = ops::tanh(x[0] * x[1]);
  const Value rows = ops::softmax(scaled, 1);
  return {rows,
          ops::mean(scaled, {0}),
          ops::reduce_sum(rows * rows, {0, 1}),
          ops::take(scaled, x[2], 0),
          ops::arg_reduce(x[0], 0, ops::Extremum::max),
          ops::cumsum(x[0], 0)};
}
HostValues batch_arguments(std::int64_t n) {
  return {random(DType::f64, {n, features}, 1), random(DType::f64, {features}, 2),
          random(DType::i32, {5}, 3, 0, static_cast<double>(n))};
}
Graph batch_graph() {
  return symbolic({rows(DType::f64, {features}), tensor(DType::f64, {features}), tensor(DType::i32, {5})}, batch);
}

// Sums of up to 5e5 terms below 1, in another order: 1e-12 of the sum's size is some thousand roundings.
void expect_same(const HostValues& got, const HostValues& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Doubles a = elements(got[i]), b = elements(expected[i]);
    ASSERT_EQ(a.size(), b.size()) << "result " << i;
    for (std::size_t k = 0; k < a.size(); ++k)
      ASSERT_NEAR(a[k], b[k], 1e-12 * std::max(1.0, std::abs(b[k]))) << "result " << i << ", element " << k;
  }
}

TEST(Symbolic, OneProgramServesAllValues) {
  const Graph g = batch_graph();
  std::vector<std::pair<HostValues, HostValues>> calls;
  for (const std::int64_t n : {1, 2, 31, 64, 513, 1000, 16500}) {
    const HostValues in = batch_arguments(n);
    calls.emplace_back(in, evaluate(g, catalog().operators, in));
  }
  for (const std::string& device : devices()) {
    if (device == "reference") continue;  // Which evaluates.
    for (const bool checked : {false, true}) {
      SCOPED_TRACE(device + (checked ? ", checked" : ""));
      const Executable e(runtime::open_device(device), g, catalog(), {.checked = checked});
      for (const auto& [in, expected] : calls) expect_same(e.run(in), expected);
      EXPECT_EQ(e.statistics().calls, 7);
    }
  }
}

TEST(Symbolic, PlansShareTheirCode) {
  const Executable e(runtime::open_device("cpu"), batch_graph(), catalog());
  for (const std::int64_t n : {700, 701, 1000, 4096, 9999, 16384}) e.run(batch_arguments(n));
  const runtime::ExecutableStatistics s = e.statistics();
  EXPECT_EQ(s.programs, 7) << "one a value, and that of the report";
  EXPECT_EQ(s.codes, 1);
  // Sums of more than 16384 terms go by chunks: other kernels, which serve every number of chunks. So do those that ask
  // ahead for what does not fit into a cache.
  for (const std::int64_t n : {17000, 20000}) e.run(batch_arguments(n));
  EXPECT_EQ(e.statistics().codes, 2);
  for (const std::int64_t n : {50000, 70001}) e.run(batch_arguments(n));
  EXPECT_EQ(e.statistics().codes, 3);
}

// Signatures of a traced function differ in shapes alone: the second one finds the code of the first.
TEST(Symbolic, ConstantShapesShareCodeToo) {
  const Graph g = batch_graph();
  const auto device = runtime::open_device("cpu");
  const auto of = [&](std::int64_t n) {
    return Executable(device, specialise(g, catalog().operators, {{"n", n}}), catalog());
  };
  const Executable a = of(700), b = of(7000);
  const auto x = device->compile(a.lir()), y = device->compile(b.lir());
  ASSERT_NE(x->code(), nullptr);
  EXPECT_EQ(x->code(), y->code());
  const auto wide = [&](std::int64_t width) {
    Graph h("wide");
    Builder build(h, catalog().operators);
    const Value v = build.input(Type(tensor(DType::f64, {700, width})), "x");
    build.output(ops::softmax(v, 1), "y");
    return Executable(device, h, catalog());
  };
  const Executable c = wide(100), d = wide(200);
  EXPECT_NE(device->compile(c.lir())->code(), device->compile(d.lir())->code()) << "strides are in the code";
}

TEST(Symbolic, SeveralSymbolsAndPolynomials) {
  Graph g("pairs");
  g.symbols.emplace("m", SymbolInfo{2, 1000, 2});
  g.symbols.emplace("n", SymbolInfo{1, 1000, 1});
  Builder b(g, catalog().operators);
  const Dim m = Dim::symbol("m"), n = Dim::symbol("n");
  const Value x = b.input(Type(tensor(DType::f64, {m, n})), "x"), y = b.input(Type(tensor(DType::f64, {n})), "y");
  b.output(ops::reduce_sum(ops::reshape(x * ops::broadcast_to(y, {m, n}), {m * n}), {0}), "s");
  verify(g, Level::hir);
  for (const std::string& device : devices()) {
    const Executable e(runtime::open_device(device), g, catalog());
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{2, 1}, {4, 33}, {100, 7}}) {
      const HostValues in{random(DType::f64, {rows, columns}, 4), random(DType::f64, {columns}, 5)};
      expect_same(e.run(in), evaluate(g, catalog().operators, in));
    }
  }
}

TEST(Symbolic, TheReportSaysWhatItIsPlannedFor) {
  const Executable e(runtime::open_device("cpu"), batch_graph(), catalog());
  EXPECT_EQ(e.report().planned_for, (Bindings{{"n", 1024}}));
  EXPECT_NE(e.report().to_table().find("planned for n = 1024"), std::string::npos);
  EXPECT_NE(e.report().to_json().find("\"planned_for\": {\n    \"n\": 1024"), std::string::npos);
  // The bounds and the divisor of a symbol hold for what it is planned for.
  const Graph few = symbolic({rows(DType::f64)}, [](ValuesIn x) { return Values{ops::exp(x[0])}; }, {3, 20, 7});
  EXPECT_EQ(Executable(runtime::open_device("cpu"), few, catalog()).report().planned_for, (Bindings{{"n", 14}}));
}

// A predicate that some values fail is a guard: those that hold it run.
TEST(Symbolic, ConstraintsAreGuards) {
  const Graph g =
      symbolic({rows(DType::f64)}, [](ValuesIn x) { return Values{ops::slice(x[0], {Dim(100)}, {Dim(5000)})}; });
  const HostValues in{random(DType::f64, {6000}, 6)};
  for (const std::string& device : devices()) {
    const Executable e(runtime::open_device(device), g, catalog());
    expect_same(e.run(in), evaluate(g, catalog().operators, in));
    try {
      e.run(HostValues{random(DType::f64, {4000}, 7)});
      FAIL() << "4000 elements have no element 4999";
    } catch (const VerifyError& error) { EXPECT_EQ(error.op(), "slice") << device; }
    expect_same(e.run(in), evaluate(g, catalog().operators, in));
  }
}

// What infer makes of the one size that fails a guard is not what the graph states: no element is between none.
TEST(Symbolic, TypesAreThoseThatTheGraphStates) {
  const Graph g = parse(R"(rlx 1
graph g(%0 "x": f64[n], %1 "by": f64[]) symbols(n) {
  %2 = pad(%0, %1) {low = [1], high = [3], interior = [1]} : f64[2*n+3]
  return %2 "y"
}
)",
                        catalog().operators);
  for (const std::string& device : devices()) {
    const Executable e(runtime::open_device(device), g, catalog());
    const HostValues two{random(DType::f64, {2}, 1), random(DType::f64, {}, 2)},
        none{random(DType::f64, {0}, 1), random(DType::f64, {}, 2)};
    EXPECT_EQ(elements(e.run(two)[0]).size(), 7u) << device;
    EXPECT_THROW(e.run(none), VerifyError) << device;
  }
}

TEST(Symbolic, RefusesWhatIsNoValue) {
  const Graph g =
      symbolic({rows(DType::f64), rows(DType::f64)}, [](ValuesIn x) { return Values{x[0] + x[1]}; }, {8, 64, 8});
  for (const std::string& device : devices()) {
    const Executable e(runtime::open_device(device), g, catalog());
    const auto refused = [&](std::int64_t first, std::int64_t second) -> std::string {
      try {
        e.run(HostValues{random(DType::f64, {first}, 8), random(DType::f64, {second}, 9)});
      } catch (const ArgumentError& error) { return error.what(); }
      return "";
    };
    EXPECT_EQ(refused(16, 16), "");
    EXPECT_NE(refused(16, 24).find("argument \"x1\""), std::string::npos);
    EXPECT_NE(refused(12, 12).find("symbol \"n\" is 12, expected 8 to 64 in multiples of 8"), std::string::npos);
    EXPECT_NE(refused(72, 72).find("symbol \"n\" is 72"), std::string::npos);
    if (device != "reference") {
      EXPECT_EQ(e.statistics().programs, 2) << "what is refused leaves no plan";
    }
  }
  const Graph untold = symbolic({tensor(DType::f64, {})},
                                [](ValuesIn x) { return Values{ops::broadcast_to(x[0], {Dim::symbol("n")})}; });
  try {
    Executable(runtime::open_device("cpu"), untold, catalog());
    FAIL() << "no input tells n";
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("symbol \"n\" of graph \"symbolic\" has no value"), std::string::npos);
  }
}

/// A graph of one output whose inputs are named x0, x1 ...
Graph of_text(const std::string& symbols, const std::string& inputs, const std::string& nodes) {
  return parse("rlx 1\ngraph g(" + inputs + ") symbols(" + symbols + ") {\n" + nodes + "\n}\n", catalog().operators);
}

// Guards that relate symbols are solved for the plan that is made before any call: no one number would do for both.
TEST(Symbolic, SymbolsThatConstraintsRelate) {
  struct Row {
    const char *symbols, *nodes;
    std::int64_t n, m;          // Values that hold the guards,
    std::int64_t not_n, not_m;  // and such that do not.
  };
  const Row table[] = {
      {"m, n",  // m = 2 n
       "%2 = concat(%0, %0) {axis = 0} : f64[2*n] %3 = reshape(%1) {shape = [2*n]} : f64[2*n] "
       "%4 = add(%3, %2) : f64[2*n] return %4 \"z\"",
       3, 6, 3, 7},
      {"m in [1, inf], n in [1, inf]",  // m + 1 <= n
       "%2 = slice(%0) {start = [0], limit = [m+1]} : f64[m+1] %3 = slice(%2) {start = [0], limit = [m]} : f64[m] "
       "%4 = add(%1, %3) : f64[m] return %4 \"z\"",
       9, 8, 8, 8},
      {"m, n in [7, 4095] mod 7",  // m = floordiv(n, 2): not linear in n
       "%2 = slice(%0) {start = [0], limit = [floordiv(n, 2)]} : f64[floordiv(n, 2)] "
       "%3 = reshape(%1) {shape = [floordiv(n, 2)]} : f64[floordiv(n, 2)] "
       "%4 = add(%3, %2) : f64[floordiv(n, 2)] return %4 \"z\"",
       35, 17, 35, 18},
  };
  for (const Row& r : table) {
    const Graph g = of_text(r.symbols, "%0 \"x0\": f64[n], %1 \"x1\": f64[m]", r.nodes);
    const Executable e(runtime::open_device("cpu"), g, catalog());
    const HostValues in{random(DType::f64, {r.n}, 1), random(DType::f64, {r.m}, 2)};
    expect_same(e.run(in), evaluate(g, catalog().operators, in));
    EXPECT_THROW(e.run(HostValues{random(DType::f64, {r.not_n}, 1), random(DType::f64, {r.not_m}, 2)}), VerifyError)
        << r.symbols;
  }
}

// The first values that are tried overflow: 1024 to the seventh.
TEST(Symbolic, ManySymbols) {
  const Graph g = of_text("a, b, c, d, e, f, h", "%0 \"x0\": f64[a,b,c,d,e,f,h]",
                          "%1 = exp(%0) : f64[a,b,c,d,e,f,h] return %1 \"y\"");
  const Executable e(runtime::open_device("cpu"), g, catalog());
  const HostValues in{random(DType::f64, {2, 1, 3, 2, 1, 2, 2}, 1)};
  expect_same(e.run(in), evaluate(g, catalog().operators, in));
}

// A dimension that is linear in the one symbol that nothing else tells is solved for it, whatever the inputs' order.
TEST(Symbolic, DimensionsAreSolved) {
  struct Row {
    const char *symbols, *inputs, *nodes;
    std::vector<std::vector<std::int64_t>> fits, fits_not;
    const char* why;
  };
  const Row table[] = {
      {"n", "%0 \"x0\": f64[2*n]", "%2 = exp(%0) : f64[2*n] return %2 \"z\"", {{6}}, {{7}}, "is 7, expected 2*n"},
      {"n",
       "%0 \"x0\": f64[2*n+1], %1 \"x1\": f64[n]",
       "%2 = exp(%0) : f64[2*n+1] return %2 \"z\"",
       {{7}, {3}},
       {{7}, {4}},
       "is 7, expected 2*n+1 = 9"},
      {"m, n",
       "%0 \"x0\": f64[m+n], %1 \"x1\": f64[3*m]",
       "%2 = exp(%0) : f64[m+n] return %2 \"z\"",
       {{5}, {6}},
       {{1}, {6}},
       "is 1, expected m+n"},
      {"m, n",
       "%0 \"x0\": f64[m*n], %1 \"x1\": f64[m]",
       "%2 = exp(%0) : f64[m*n] return %2 \"z\"",
       {{12}, {4}},
       {{12}, {5}},
       "is 12, expected m*n"},
  };
  const auto values = [](const std::vector<std::vector<std::int64_t>>& shapes) {
    HostValues out;
    for (const auto& s : shapes) out.push_back(random(DType::f64, s, 3));
    return out;
  };
  for (const Row& r : table) {
    const Graph g = of_text(r.symbols, r.inputs, r.nodes);
    const HostValues in = values(r.fits);
    const Executable e(runtime::open_device("cpu"), g, catalog());
    expect_same(e.run(in), evaluate(g, catalog().operators, in));
    for (const char* device : {"cpu", "reference"}) try {
        Executable(runtime::open_device(device), g, catalog()).run(values(r.fits_not));
        FAIL() << r.inputs;
      } catch (const ArgumentError& error) {
        EXPECT_NE(std::string(error.what()).find(r.why), std::string::npos) << error.what();
      }
  }
  // What no shape tells is refused before a call: neither of two that stand in a sum, nor what is divided.
  for (const char* shape : {"m+n", "m*n+floordiv(m, 2)"}) {
    const std::string type = "f64[" + std::string(shape) + "]";
    const Graph g = of_text("m, n", "%0 \"x0\": " + type, "%1 = exp(%0) : " + type + " return %1 \"z\"");
    EXPECT_THROW(Executable(runtime::open_device("cpu"), g, catalog()), ArgumentError) << shape;
  }
}

TEST(Symbolic, ValuesComeFromSeveralThreads) {
  const Graph g = batch_graph();
  const Executable e(runtime::open_device("cpu"), g, catalog());
  std::vector<HostValues> expected;
  for (std::int64_t n = 1; n <= 4; ++n) expected.push_back(evaluate(g, catalog().operators, batch_arguments(n * 300)));
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::int64_t k = 0; k < 8; ++k) {
        const std::int64_t n = (t + k) % 4 + 1;
        expect_same(e.run(batch_arguments(n * 300)), expected[static_cast<std::size_t>(n - 1)]);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(e.statistics().programs, 5);
}

}  // namespace
}  // namespace rlx::sizes::symbols
