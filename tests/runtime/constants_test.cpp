// A constant is on a device once, however many programs compute with it, for as long as one of them is there.
#include "runtime/sizes_support.hpp"

#include "runtime/constants.hpp"

#include <cstring>
#include <thread>

namespace rlx::sizes::constants {
namespace {

using runtime::constant_on;
using runtime::Executable;

constexpr std::int64_t rows = 300, columns = 200;

HostTensor weights() {
  HostTensor w(DType::f32, {rows, columns});
  for (std::int64_t i = 0; i < w.numel(); ++i) w.set_f64(i, static_cast<double>(i % 17) - 8);
  return w;
}

// x [n, rows] times the weights, for any n: a program for each.
Graph layer(const HostTensor& w) {
  Graph g("layer");
  g.symbols.emplace("n", SymbolInfo{1, 1 << 20, 1});
  Builder b(g, catalog().operators);
  const Value x = b.input(Type(tensor(DType::f32, {Dim::symbol("n"), rows})), "x");
  b.output(ops::dot_general(x, ops::constant(b, w), {.lhs_contract = {1}, .rhs_contract = {0}}), "y");
  return g;
}

/// cpu with memory of its own, and what it was asked for.
class FarDevice final : public runtime::Device {
 public:
  explicit FarDevice(std::shared_ptr<Device> near) : near_(std::move(near)) {}
  const Target& target() const override { return near_->target(); }
  std::span<const KernelRecord> records() const override { return near_->records(); }
  bool host_addressable() const override { return false; }
  runtime::Allocation allocate(std::int64_t bytes) override {
    ++held;
    return near_->allocate(bytes);
  }
  void release(const runtime::Allocation& a) noexcept override {
    --held;
    near_->release(a);
  }
  void upload(const runtime::Allocation& to, std::int64_t offset, const void* from, std::int64_t bytes) override {
    ++uploads;
    if (refuses) throw DeviceError("FarDevice", 7, "the line is cut");
    near_->upload(to, offset, from, bytes);
  }
  void download(void* to, const runtime::Allocation& from, std::int64_t offset, std::int64_t bytes) override {
    near_->download(to, from, offset, bytes);
  }
  void copy(const runtime::Allocation& to, std::int64_t to_offset, const runtime::Allocation& from,
            std::int64_t from_offset, std::int64_t bytes) override {
    near_->copy(to, to_offset, from, from_offset, bytes);
  }
  void synchronize() override {}
  std::unique_ptr<runtime::Module> compile(const Graph& lir) override { return near_->compile(lir); }

  int held = 0, uploads = 0;
  bool refuses = false;

 private:
  std::shared_ptr<Device> near_;
};

TEST(Constants, OneCopyForAllWhoHoldIt) {
  const auto device = std::make_shared<FarDevice>(runtime::open_device("cpu"));
  const HostTensor w = weights(), same_elements = weights();
  auto a = constant_on(device, w), b = constant_on(device, HostTensor(w));
  EXPECT_EQ(a, b);
  EXPECT_EQ(std::memcmp(a->allocation().handle, w.data(), static_cast<std::size_t>(w.bytes())), 0);
  EXPECT_NE(constant_on(device, same_elements), a) << "another literal, if of the same elements";
  EXPECT_EQ(device->uploads, 2);
  EXPECT_EQ(device->held, 1) << "nobody holds that of the other";
  // The beginning of the same memory is not the whole.
  const HostTensor part = HostTensor::view(DType::f32, {columns}, w.data(), std::make_shared<HostTensor>(w));
  EXPECT_EQ(constant_on(device, part)->bytes(), columns * 4);
  a.reset();
  EXPECT_EQ(device->held, 1);
  b.reset();
  EXPECT_EQ(device->held, 0);
  EXPECT_NE(constant_on(std::make_shared<FarDevice>(runtime::open_device("cpu")), w), nullptr);
}

TEST(Constants, AreNotCopiedWhereHostMemoryIsTheDevices) {
  const auto device = runtime::open_device("cpu");
  HostTensor w = weights();
  const std::byte* const there = w.data();
  const auto a = constant_on(device, w);
  EXPECT_EQ(a->allocation().handle, there);
  w.set_f64(0, 100);  // Of the caller's from here on: what programs hold stays as it was.
  EXPECT_NE(w.data(), there);
  EXPECT_EQ(*static_cast<const float*>(a->allocation().handle), -8);
}

TEST(Constants, ARefusedUploadLeavesNothing) {
  const auto device = std::make_shared<FarDevice>(runtime::open_device("cpu"));
  const HostTensor w = weights();
  device->refuses = true;
  EXPECT_THROW(constant_on(device, w), DeviceError);
  EXPECT_EQ(device->held, 0);
  device->refuses = false;
  EXPECT_NE(constant_on(device, w), nullptr);
}

TEST(Constants, ProgramsOfOtherSizesShareThem) {
  const auto device = std::make_shared<FarDevice>(runtime::open_device("cpu"));
  const HostTensor w = weights();
  std::int64_t kept = 0;
  {
    const Executable e(device, layer(w), catalog());
    const int planned = device->uploads;
    EXPECT_GE(planned, 1);
    int arguments = 0;
    for (const std::int64_t n : {3, 4, 70}) {
      HostTensor x(DType::f32, {n, rows});
      for (std::int64_t i = 0; i < x.numel(); ++i) x.set_f64(i, static_cast<double>(i % 5));
      const HostValues out = e.run(HostValues{x});
      const auto& y = std::get<HostTensor>(out[0]);
      for (std::int64_t i = 0; i < y.numel(); i += 37) {
        double sum = 0;  // Of small integers: exact in f32 in any order.
        for (std::int64_t k = 0; k < rows; ++k)
          sum += x.get_f64(i / columns * rows + k) * w.get_f64(k * columns + i % columns);
        ASSERT_EQ(y.get_f64(i), sum);
      }
      ++arguments;
    }
    EXPECT_EQ(e.statistics().programs, 4);
    EXPECT_EQ(device->uploads, planned + arguments) << "one an argument, none a program";
    EXPECT_GE(e.statistics().peak_bytes, w.bytes()) << "each program's figure has them";
    kept = device->held;
  }
  EXPECT_GT(kept, 0);
  EXPECT_EQ(device->held, 0);
}

TEST(Constants, ThreadsAtOnceHoldOne) {
  const auto device = runtime::open_device("cpu");
  const HostTensor w = weights();
  std::vector<std::shared_ptr<const runtime::Constant>> got(8);
  std::vector<std::thread> threads;
  for (auto& g : got) threads.emplace_back([&] { g = constant_on(device, w); });
  for (std::thread& t : threads) t.join();
  for (const auto& g : got) EXPECT_EQ(g, got[0]);
}

}  // namespace
}  // namespace rlx::sizes::constants
