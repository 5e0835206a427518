// What an executable tells of its calls: the first node that makes a NaN or an infinity, the memory it held, and the
// index that a checked call refuses.
#include "catalog.hpp"

#include <rlx/ir/located.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>

namespace rlx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::string> compiling_devices() {
  std::vector<std::string> out;
  for (const char* name : {"cpu", "oneapi"})
    for (const runtime::BackendEntry* b : runtime::backends())
      if (b->name == name && b->availability().available) out.push_back(name);
  return out;
}
std::vector<std::string> all_devices() {
  std::vector<std::string> out = compiling_devices();
  out.push_back("reference");
  return out;
}

HostTensor doubles(std::vector<double> v) {
  return HostTensor::from(DType::f64, {static_cast<std::int64_t>(v.size())}, v);
}

// f of one f64[4] argument, its node at line 10, 11, ...
Graph graph_of(const std::function<Value(Value)>& f) {
  Graph g("f");
  Builder b(g, registry());
  const Value x = b.input(f64({4}), "x");
  b.set_location({"model.cpp", 10});
  b.output(f(x), "y");
  return g;
}

runtime::Executable checking(const Graph& g, const std::string& device) {
  return runtime::Executable(runtime::open_device(device), g, catalog(), {.check_numerics = true});
}

// The error of a call, whose message is empty where there is none.
struct Caught {
  std::string op, message;
  ErrorSite site;
};
Caught caught(const runtime::Executable& e, std::vector<double> x) {
  try {
    e.run(HostValues{doubles(std::move(x))});
  } catch (const NonFiniteError& error) { return {error.op(), error.what(), error.site()}; }
  return {};
}

TEST(CheckNumerics, NamesTheNodeWhereItStarts) {
  for (const std::string& device : all_devices()) {
    const auto e = checking(graph_of([](Value x) {
                              x.builder->set_location({"model.cpp", 11});
                              const Value y = ops::log(x);
                              x.builder->set_location({"model.cpp", 12});
                              return ops::add(ops::mul(y, y), x);
                            }),
                            device);
    EXPECT_EQ(caught(e, {1, 2, 3, 4}).message, "");
    const Caught nan = caught(e, {1, 2, -3, 4}), infinite = caught(e, {1, 0, 3, 4});
    EXPECT_EQ(nan.op, "log");
    EXPECT_NE(nan.message.find("stores NaN at element 2"), std::string::npos) << nan.message;
    EXPECT_EQ(nan.site.file, "model.cpp");
    EXPECT_EQ(nan.site.line, 11u);
    EXPECT_EQ(nan.site.node, "%1");
    EXPECT_EQ(infinite.op, "log");
    EXPECT_NE(infinite.message.find("stores an infinity at element 1"), std::string::npos) << infinite.message;
    EXPECT_EQ(caught(e, {4, 3, 2, 1}).message, "") << "the executable survives";
  }
}

TEST(CheckNumerics, NaNOutOfInfinitiesHasItsOwnNode) {
  for (const std::string& device : all_devices()) {
    const auto e = checking(graph_of([](Value x) { return ops::sub(ops::abs(x), ops::abs(x)); }), device);
    EXPECT_EQ(caught(e, {1, infinity, 3, 4}).op, "sub");
  }
}

TEST(CheckNumerics, InfinitiesThatAreGivenAreMeant) {
  for (const std::string& device : all_devices()) {
    const auto masked = checking(graph_of([](Value x) {
                                   const Value zero = ops::full_like(x, 0), low = ops::full_like(x, -infinity);
                                   const Value m = ops::select(ops::compare(x, zero, ops::Direction::gt), x, low);
                                   return ops::exp(m);
                                 }),
                                 device);
    EXPECT_EQ(caught(masked, {1, -2, 3, -4}).message, "");
    EXPECT_EQ(caught(masked, {1, -infinity, 3, -4}).message, "");
  }
}

TEST(CheckNumerics, ANaNArgumentIsNamed) {
  for (const std::string& device : all_devices()) {
    const Caught c = caught(checking(graph_of([](Value x) { return ops::neg(x); }), device), {1, std::nan(""), 3, 4});
    EXPECT_EQ(c.message, "argument \"x\" holds NaN at element 1");
  }
}

TEST(CheckNumerics, InsideALoop) {
  for (const std::string& device : all_devices()) {
    const auto e = checking(
        graph_of([](Value x) {
          Builder& b = *x.builder;
          return ops::while_(
              std::array{ops::scalar(b, DType::i64, 0), x}, {},
              [&](ValuesIn v) { return Values{ops::compare(v[0], ops::scalar(b, DType::i64, 5), ops::Direction::lt)}; },
              [&](ValuesIn v) {
                b.set_location({"model.cpp", 20});
                return Values{ops::add(v[0], ops::scalar(b, DType::i64, 1)), ops::exp(v[1])};
              })[1];
        }),
        device);
    const Caught c = caught(e, {1, 1, 1, 1});  // exp(exp(exp(exp(1)))) is about 10^1656520.
    EXPECT_EQ(c.op, "exp");
    EXPECT_EQ(c.site.line, 20u);
    EXPECT_NE(c.site.node.find("while/"), std::string::npos) << c.site.node;
    EXPECT_NE(c.site.node.find(".body %"), std::string::npos) << c.site.node;
  }
}

TEST(CheckNumerics, ANodeOfADecompositionIsItsComposites) {
  for (const std::string& device : all_devices()) {
    // softmax shifts by the greatest element, and infinity less infinity is NaN.
    const auto e = checking(graph_of([](Value x) { return ops::softmax(ops::mul(x, x), 0); }), device);
    EXPECT_EQ(caught(e, {1, 2, 3, 4}).message, "");
    const Caught overflow = caught(e, {1, 1e200, 3, 4}), given = caught(e, {1, infinity, 3, 4});
    EXPECT_EQ(overflow.op, "mul");
    EXPECT_EQ(given.op, "softmax");
    EXPECT_EQ(given.site.node, "%2");
    EXPECT_EQ(given.site.line, 10u);
  }
}

TEST(Statistics, PeakOfACallIsWhatItHolds) {
  Graph g("peak");
  Builder b(g, registry());
  const std::int64_t n = 1 << 16;
  const Value x = b.input(f64({n}), "x");
  b.output(ops::dot_general(ops::exp(x), ops::exp(x), {.lhs_contract = {0}, .rhs_contract = {0}}), "y");
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
  const std::int64_t before = e.statistics().peak_bytes;
  EXPECT_EQ(e.statistics().calls, 0);
  const HostValues in{HostTensor(DType::f64, {n})};
  e.run(in);
  const std::int64_t once = e.statistics().peak_bytes;
  EXPECT_EQ(once - before, e.bytes_per_call());
  for (int i = 0; i < 3; ++i) e.run(in);
  EXPECT_EQ(e.statistics().peak_bytes, once) << "calls one after the other take the same arena";
  EXPECT_EQ(e.statistics().calls, 4);
}

// Calls at once have records of their own: the refusal of one is not the other's.
TEST(Checked, CallsAtOnceAreToldApart) {
  for (const std::string& device : compiling_devices()) {
    Graph g("take");
    Builder b(g, registry());
    const Value x = b.input(f32({100}), "x"), i = b.input(TensorType{DType::i64, {Dim(50)}}, "i");
    b.output(ops::take(x, i, 0), "y");
    const runtime::Executable e(runtime::open_device(device), g, catalog(), {.checked = true});
    std::atomic<int> wrong{0};
    const auto calls = [&](std::int64_t index) {
      HostTensor indices(DType::i64, {50});
      indices.set_i64(7, index);
      for (int k = 0; k < 200; ++k) {
        bool refused = false;
        try {
          e.run(HostValues{HostTensor(DType::f32, {100}), indices});
        } catch (const ArgumentError& error) {
          refused = true;
          if (std::string(error.what()).find(std::to_string(index)) == std::string::npos) ++wrong;
        }
        if (refused != (index >= 100)) ++wrong;
      }
    };
    std::thread sound(calls, 99), unsound(calls, 100), other(calls, 1234);
    sound.join();
    unsound.join();
    other.join();
    EXPECT_EQ(wrong, 0) << device;
  }
}

// A device of small slabs with one record that wants a workspace.
class Small final : public runtime::Device {
 public:
  Small() {
    target_.device = "small";
    target_.compute = storable;
    target_.max_slab_bytes = 8192;
  }
  const Target& target() const override { return target_; }
  std::span<const KernelRecord> records() const override {
    static const KernelRecord record{
        .name = "small.softmax",
        .op = "softmax",
        .provider = "handwritten",
        .action = Launch{[](const LaunchCall&) {}},
        .workspace = [](const Instance& i) { return 8 * i.signature.tensor(0).numel().constant(); }};
    return std::span(&record, 1);
  }
  bool host_addressable() const override { return false; }
  runtime::Allocation allocate(std::int64_t bytes) override { return null_->allocate(bytes); }
  void release(const runtime::Allocation&) noexcept override {}
  void upload(const runtime::Allocation&, std::int64_t, const void*, std::int64_t) override {}
  void download(void*, const runtime::Allocation&, std::int64_t, std::int64_t) override {}
  void copy(const runtime::Allocation&, std::int64_t, const runtime::Allocation&, std::int64_t, std::int64_t) override {
  }
  void synchronize() override {}
  std::unique_ptr<runtime::Module> compile(const Graph& lir) override { return null_->compile(lir); }

 private:
  std::shared_ptr<runtime::Device> null_ = runtime::open_device("null");
  Target target_;
};

TEST(Memory, AWorkspaceThatLeavesTheSlabIsRefused) {
  const auto compile = [](std::int64_t n) {
    Graph g("softmax");
    Builder b(g, registry());
    b.output(ops::softmax(b.input(f32({n}), "x"), 0), "y");
    runtime::Executable(std::make_shared<Small>(), g, catalog());
  };
  EXPECT_NO_THROW(compile(1024));
  EXPECT_THROW(compile(1025), MemoryError);
}

}  // namespace
}  // namespace rlx
