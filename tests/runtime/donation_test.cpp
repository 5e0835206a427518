// Programs that write over inputs that the caller gives away: the same results, no memory of their own, and nothing
// lost that a later step or another value needs.
#include "runtime/sizes_support.hpp"

#include <rlx/ir/text.hpp>

#include <algorithm>
#include <map>
#include <random>

namespace rlx::sizes {
namespace {

const CompileOptions& donating(std::vector<std::size_t> inputs) {
  static thread_local CompileOptions o;
  o.donated = std::move(inputs);
  return o;
}

HostTensor ramp(DType t, std::vector<std::int64_t> shape, double scale = 0.25) {
  HostTensor x(t, std::move(shape));
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set_f64(i, scale * static_cast<double>((i * 7) % 23) - 1);
  return x;
}
HostValues values(const std::vector<HostTensor>& in) { return {in.begin(), in.end()}; }
const HostTensor& array(const HostValue& v) { return std::get<HostTensor>(v); }
std::map<std::string, DonationRow> rows(const runtime::Executable& e) {
  std::map<std::string, DonationRow> out;
  for (const DonationRow& r : e.report().donations) out[r.input] = r;
  return out;
}

// Adam (Kingma and Ba 2015, algorithm 1) without the correction of the first steps: w, m, v, gradient.
Graph adam(const std::vector<HostTensor>& like) {
  return graph_of(like, [](ValuesIn x) {
    const Value m = x[1] * 0.9 + x[3] * 0.1, v = x[2] * 0.999 + x[3] * x[3] * 0.001;
    return Values{x[0] - m * 0.01 / (ops::sqrt(v) + 1e-8), m, v};
  });
}

TEST(Donation, StateIsUpdatedInPlace) {
  constexpr std::int64_t n = 1 << 22;  // 16 MiB each of w, m, v and the gradient.
  std::vector<HostTensor> in(4);
  for (HostTensor& t : in) t = HostTensor(DType::f32, {n});
  for (float& g : in[3].as_mutable<float>()) g = 2;
  const std::byte* const at[]{in[0].data(), in[1].data(), in[2].data()};
  const runtime::Executable e(runtime::open_device("cpu"), adam(in), catalog(), donating({0, 1, 2}));
  HostValues state = values(in);
  in.clear();
  for (int step = 0; step < 3; ++step) {
    HostValues next = e.run_donating(state);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::holds_alternative<HostToken>(state[i]));
      EXPECT_EQ(array(next[i]).data(), at[i]) << i;
      state[i] = std::move(next[i]);
    }
  }
  // m = 2 (1 - 0.9^3), v = 4 (1 - 0.999^3), to the rounding of f32.
  EXPECT_NEAR(array(state[1]).get_f64(n - 1), 2 * (1 - 0.9 * 0.9 * 0.9), 1e-6);
  EXPECT_NEAR(array(state[2]).get_f64(n - 1), 4 * (1 - 0.999 * 0.999 * 0.999), 1e-7);
  EXPECT_EQ(e.statistics().in_place_bytes, 3 * 3 * 4 * n);
  EXPECT_EQ(e.statistics().copied_bytes, 0);
  EXPECT_LT(e.statistics().peak_bytes, 1 << 16);
  EXPECT_LT(e.bytes_per_call(), 1 << 16);
}

TEST(Donation, ResultsAreThoseWithout) {
  const std::vector<HostTensor> in{ramp(DType::f32, {5, 33}), ramp(DType::f32, {5, 33}, 0.1),
                                   ramp(DType::f32, {5, 33}, 0.2), ramp(DType::f32, {5, 33}, 0.3)};
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    const runtime::Executable e(runtime::open_device(device), adam(in), catalog(), donating({0, 1, 2}));
    const HostValues expected = run(adam(in), in, device);
    const HostValues kept = values(in);
    HostValues shared = values(in);
    const HostValues got = e.run_donating(shared), again = e.run(kept);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(array(got[i]).identical(array(expected[i])));
      EXPECT_TRUE(array(again[i]).identical(array(expected[i])));
      EXPECT_TRUE(array(kept[i]).identical(in[i])) << "another value of the same elements changed";
      EXPECT_TRUE(std::holds_alternative<HostToken>(shared[i]));
    }
    ASSERT_EQ(e.report().donations.size(), 3u);
    for (const DonationRow& r : e.report().donations) EXPECT_EQ(r.result.empty(), device == "reference") << r.why;
    if (device == "reference") continue;
    EXPECT_EQ(e.statistics().copied_bytes, 2 * 3 * in[0].bytes());  // Both calls shared theirs with `in`.
    const Graph parsed = parse(print(e.lir()), registry());
    EXPECT_EQ(print(parsed), print(e.lir()));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(parsed.outputs()[i], parsed.inputs()[i]);
  }
}

TEST(Donation, WhatIsReadLaterOrElsewhereStays) {
  const std::vector<HostTensor> in{ramp(DType::f64, {6, 6})};
  struct Case {
    std::string why;
    std::function<Values(ValuesIn)> body;
  };
  const Case cases[]{
      {"elsewhere", [](ValuesIn x) { return Values{ops::reverse(x[0], {0}) + x[0]}; }},
      {"elsewhere", [](ValuesIn x) { return Values{ops::matmul(x[0], x[0])}; }},
      {"elsewhere", [](ValuesIn x) { return Values{ops::softmax(x[0], 1) * 2.0}; }},
      {"no result", [](ValuesIn x) { return Values{ops::reduce_sum(x[0], {0, 1})}; }},
      {"later",
       [](ValuesIn x) {
         const Value first = ops::matmul(ops::exp(x[0]), ops::exp(x[0]));
         return Values{first, ops::reduce_sum(ops::matmul(first, x[0]), {0})};
       }},
  };
  for (const Case& c : cases) {
    const Graph g = graph_of(in, c.body);
    const runtime::Executable e(runtime::open_device("cpu"), g, catalog(), donating({0}));
    HostValues given = values({ramp(DType::f64, {6, 6})});
    const HostValues got = e.run_donating(given), expected = run(g, in, "cpu");
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(array(got[i]).identical(array(expected[i])));
    ASSERT_EQ(e.report().donations.size(), 1u);
    const DonationRow& r = e.report().donations[0];
    EXPECT_EQ(r.result, "") << print(e.lir());
    EXPECT_NE(r.why.find(c.why), std::string::npos) << r.why;
    EXPECT_NE(e.report().to_table().find("donated \"x0\" (288 bytes): " + r.why), std::string::npos);
    EXPECT_NE(e.report().to_json().find("\"donations\""), std::string::npos);
    EXPECT_TRUE(std::holds_alternative<HostToken>(given[0]));
  }
}

TEST(Donation, CopiesGo) {
  const std::vector<HostTensor> in{ramp(DType::f64, {64}), ramp(DType::f64, {64}, 0.5)};
  // Swapped, and the start of a loop's state.
  const Graph swap = graph_of(in, [](ValuesIn x) { return Values{x[1], x[0]}; });
  const Graph loop = graph_of(in, [](ValuesIn x) {
    Builder& b = *x[0].builder;
    const Values out = ops::while_(
        Values{ops::scalar(b, DType::i64, 0), x[0], x[1]}, {},
        [&](ValuesIn s) { return Values{ops::compare(s[0], ops::scalar(b, DType::i64, 5), ops::Direction::lt)}; },
        [&](ValuesIn s) { return Values{s[0] + ops::scalar(b, DType::i64, 1), s[1] * 0.5 + s[2], s[2] + 1.0}; });
    return Values{out[1], out[2]};
  });
  for (const Graph* g : {&swap, &loop}) {
    const runtime::Executable e(runtime::open_device("cpu"), *g, catalog(), donating({0, 1}));
    HostValues given = values({ramp(DType::f64, {64}), ramp(DType::f64, {64}, 0.5)});
    const HostValues got = e.run_donating(given), expected = run(*g, in, "cpu");
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(array(got[i]).identical(array(expected[i])));
      EXPECT_NE(rows(e)["x" + std::to_string(i)].result, "") << e.report().to_table();
    }
    EXPECT_EQ(e.statistics().in_place_bytes, 2 * 64 * 8);
    if (g == &swap) { EXPECT_TRUE(e.report().steps.empty()); }
  }
}

TEST(Donation, TheKernelOfACallWritesInPlace) {
  // A step of gradient descent on a linear layer: the product's epilogue reads and writes the weights.
  const std::vector<HostTensor> in{ramp(DType::f32, {96, 64}), ramp(DType::f32, {128, 96}, 0.1),
                                   ramp(DType::f32, {128, 64}, 0.2)};
  const Graph g =
      graph_of(in, [](ValuesIn x) { return Values{x[0] - ops::matmul(ops::transpose(x[1], {1, 0}), x[2]) * 0.01}; });
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog(), donating({0}));
  HostValues given = values(in);
  given[0] = ramp(DType::f32, {96, 64});
  const std::byte* const weights = array(given[0]).data();
  const HostValues got = e.run_donating(given), expected = run(g, in, "cpu");
  EXPECT_TRUE(array(got[0]).identical(array(expected[0])));
  EXPECT_EQ(array(got[0]).data(), weights) << e.report().to_table();
}

// Programs drawn at random over three arrays of one type, all donated: whatever order of steps and reads comes about,
// the results are those of the same program without donation.
TEST(Donation, RandomPrograms) {
  const std::vector<HostTensor> in{ramp(DType::f64, {8, 8}), ramp(DType::f64, {8, 8}, 0.5),
                                   ramp(DType::f64, {8, 8}, 0.125)};
  std::mt19937 random(7);
  std::int64_t in_place = 0;
  for (int program = 0; program < 40; ++program) {
    const Graph g = graph_of(in, [&](ValuesIn x) {
      Values all(x.begin(), x.end());
      const auto any = [&] { return all[random() % all.size()]; };
      for (int i = 0; i < 6; ++i) {
        const Value a = any(), c = any();
        switch (random() % 7) {
          case 0:
            all.push_back(a + c);
            break;
          case 1:
            all.push_back(a * 0.5 - c);
            break;
          case 2:
            all.push_back(ops::reverse(a, {1}) + c);
            break;
          case 3:
            all.push_back(ops::transpose(a, {1, 0}));
            break;
          case 4:
            all.push_back(a - ops::broadcast_to(ops::reduce_sum(c, {1}, true), {8, 8}) * 0.125);
            break;
          case 5:
            all.push_back(ops::matmul(a, c) * 0.125);
            break;
          case 6:
            all.push_back(ops::dynamic_update_slice(
                a, ops::slice(c, {0, 0}, {3, 8}),
                Values{ops::scalar(*a.builder, DType::i64, 2), ops::scalar(*a.builder, DType::i64, 0)}));
            break;
        }
      }
      return Values{all.back(), all[all.size() - 2], any()};
    });
    const runtime::Executable e(runtime::open_device("cpu"), g, catalog(), donating({0, 1, 2}));
    HostValues given =
        values({ramp(DType::f64, {8, 8}), ramp(DType::f64, {8, 8}, 0.5), ramp(DType::f64, {8, 8}, 0.125)});
    const HostValues got = e.run_donating(given), expected = run(g, in, "cpu");
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(array(got[i]).identical(array(expected[i]))) << print(g) << print(e.lir());
    in_place += e.statistics().in_place_bytes;
  }
  EXPECT_GT(in_place, 40 * 8 * 8 * 8);  // One a program at least, on average, or this tests nothing.
}

TEST(Donation, ProgramsWithSizePoints) {
  // x by counts, in the tail; what only the head reads goes there.
  const std::vector<HostTensor> like{vector_of(DType::i32, {2, 0, 3}), ramp(DType::f64, {3}), ramp(DType::f64, {512})};
  const Graph g = graph_of(like, [](ValuesIn v) {
    const Value repeated = ops::take(v[1], ops::repeat(v[0] * 1, size())[0], 0);
    return Values{ops::reduce_sum(repeated, {0}), v[1] * 2.0, v[2] + 1.0};
  });
  for (const std::string device : {"cpu", "oneapi"}) {
    const auto there = devices();
    if (std::find(there.begin(), there.end(), device) == there.end()) continue;
    const runtime::Executable e(runtime::open_device(device), g, catalog(), donating({0, 1, 2}));
    for (const double n : {3.0, 40.0}) {
      const HostTensor counts = vector_of(DType::i32, {2, 0, n});
      HostValues given{vector_of(DType::i32, {2, 0, n}), ramp(DType::f64, {3}), ramp(DType::f64, {512})};
      const std::byte* const last = array(given[2]).data();
      const HostValues got = e.run_donating(given), expected = run(g, {counts, like[1], like[2]}, device);
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(array(got[i]).identical(array(expected[i]))) << i;
      if (device == "cpu") { EXPECT_EQ(array(got[2]).data(), last); }
      for (const HostValue& v : given) EXPECT_TRUE(std::holds_alternative<HostToken>(v));
    }
    EXPECT_EQ(rows(e)["x2"].result, "y2") << e.report().to_table();
    EXPECT_EQ(e.statistics().copied_bytes, 0);
  }
}

TEST(Donation, RefusesAndKeeps) {
  const std::vector<HostTensor> in{ramp(DType::f64, {4}), ramp(DType::f64, {4}, 0.5)};
  const Graph g = graph_of(in, [](ValuesIn x) { return Values{x[0] + x[1], x[0] - x[1]}; });
  const auto expect_error = [](const std::string& text, const auto& f) {
    try {
      f();
      ADD_FAILURE() << "accepted: " << text;
    } catch (const ArgumentError& e) {
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
      EXPECT_TRUE(e.object_survives()) << e.what();
    }
  };
  for (const std::string& device : devices()) {
    const auto compiled = [&](std::vector<std::size_t> inputs) {
      return runtime::Executable(runtime::open_device(device), g, catalog(), donating(std::move(inputs)));
    };
    expect_error("input 2 of graph \"sized\" is donated, which takes 2", [&] { compiled({2}); });
    const runtime::Executable e = compiled({0, 1});
    HostValues twice{in[0], in[0]};
    expect_error("argument \"x1\" is donated twice: it is the memory of \"x0\"", [&] { e.run_donating(twice); });
    HostValues wrong{in[0], ramp(DType::f32, {4})};
    expect_error("x1", [&] { e.run_donating(wrong); });
    HostValues few{in[0]};
    expect_error("takes 2 arguments", [&] { e.run_donating(few); });
    for (const HostValues* kept : {&twice, &wrong, &few}) EXPECT_TRUE(array((*kept)[0]).identical(in[0]));
    const std::vector<double> borrowed{1, 2, 3, 4};
    HostValues view{HostTensor::view(DType::f64, {4}, borrowed.data(), nullptr), in[1]};
    expect_error("argument \"x0\" is donated, but its elements are another's", [&] { e.run_donating(view); });
    EXPECT_EQ(elements(e.run(view)[1])[0], 1 - in[1].get_f64(0));
    EXPECT_EQ(borrowed[0], 1);
    // One donated, the other one given besides: it is another value.
    const runtime::Executable half = compiled({0});
    HostValues same{in[0], in[0]};
    const HostValues out = half.run_donating(same);
    EXPECT_EQ(elements(out[1]), (Doubles{0, 0, 0, 0}));
    EXPECT_TRUE(array(same[1]).identical(in[0]));
  }
}

// An index out of range is found when its step has run, or, where the program is interpreted, before anything is taken.
TEST(Donation, AFailedCallSaysWhetherItUsedThemUp) {
  const std::vector<HostTensor> in{ramp(DType::f64, {4}), vector_of(DType::i32, {0, 3})};
  const Graph g = graph_of(in, [](ValuesIn x) { return Values{x[0] + 1.0, ops::take(x[0], x[1], 0)}; });
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    CompileOptions options = donating({0});
    options.checked = true;
    const runtime::Executable e(runtime::open_device(device), g, catalog(), options);
    HostValues given{in[0], vector_of(DType::i32, {0, 4})};
    const auto survives = [](const auto& call) {
      try {
        call();
      } catch (const ArgumentError& error) {
        EXPECT_NE(std::string(error.what()).find("expected 0 to 3"), std::string::npos) << error.what();
        return error.object_survives();
      }
      ADD_FAILURE() << "nothing is refused";
      return false;
    };
    EXPECT_TRUE(survives([&] { e.run(given); }));
    EXPECT_TRUE(array(given[0]).identical(in[0]));
    const bool whole = survives([&] { e.run_donating(given); });
    EXPECT_EQ(whole, std::holds_alternative<HostTensor>(given[0]));
    EXPECT_EQ(whole, device == "reference");
    given[0] = in[0];
    given[1] = in[1];
    EXPECT_EQ(elements(e.run_donating(given)[1])[1], in[0].get_f64(3)) << "the executable survives";
  }
}

}  // namespace
}  // namespace rlx::sizes
