// Programs of LIR kernels written by hand, and a device to run them on.
#pragma once
#include "backends/cpu/cpu_device.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/builder.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/registry.hpp>
#include <rlx/ops/attributes/elementwise.hpp>
#include <rlx/ops/attributes/source.hpp>
#include <rlx/ops/register.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace rlx::testing_kernels {

inline const Registry& registry() {
  static const Registry* r = [] {
    auto* made = new Registry;
    ops::register_ops(*made);
    lir::register_ops(*made);
    return made;
  }();
  return *r;
}

/// Index arguments and buffers of a kernel body under construction, with the few operators that tests write often.
struct Body {
  Builder& b;
  std::vector<Value> index, buffer;

  Value i64(std::int64_t x) const {
    return b.emit1("constant", {}, ops::ConstantAttrs{HostTensor::scalar_i64(DType::i64, x)});
  }
  Value number(DType t, double x) const {
    return b.emit1("constant", {}, ops::ConstantAttrs{HostTensor::scalar(t, x)});
  }
  Value op(std::string_view name, std::initializer_list<Value> in, AnyAttrs attrs = {}) const {
    return b.emit1(name, in, std::move(attrs));
  }
  Value add(Value x, Value y) const { return op("add", {x, y}); }
  Value sub(Value x, Value y) const { return op("sub", {x, y}); }
  Value mul(Value x, Value y) const { return op("mul", {x, y}); }
  Value times(Value x, std::int64_t n) const { return op("mul", {x, i64(n)}); }
  Value plus(Value x, std::int64_t n) const { return op("add", {x, i64(n)}); }
  Value load(std::size_t k, Value at) const { return op("lir.load", {buffer[k], at}); }
  void store(std::size_t k, Value at, Value x) const { b.emit("lir.store", {buffer[k], at, x}); }
  Value convert(Value x, DType t) const { return op("convert", {x}, ops::DTypeAttrs{t}); }
  Value compare(Value x, Value y, ops::Direction d) const { return op("compare", {x, y}, ops::CompareAttrs{d}); }
  Values loop(Value lower, Value upper, std::vector<Value> carried, const std::function<Values(Value, ValuesIn)>& body,
              lir::ForAttrs attrs = {}) const {
    std::vector<Value> in{lower, upper};
    in.insert(in.end(), carried.begin(), carried.end());
    const RegionBody region = [&](ValuesIn a) { return body(a[0], a.subspan(1)); };
    return b.emit("lir.for", in, attrs, std::span<const RegionBody>(&region, 1));
  }
  Values reduce(Value lower, Value upper, std::vector<Value> identities, const std::function<Values(Value)>& term,
                const std::function<Values(ValuesIn, ValuesIn)>& combine) const {
    std::vector<Value> in{lower, upper};
    in.insert(in.end(), identities.begin(), identities.end());
    const std::size_t n = identities.size();
    const RegionBody regions[] = {[&](ValuesIn a) { return term(a[0]); },
                                  [&](ValuesIn a) { return combine(a.first(n), a.subspan(n)); }};
    return b.emit("lir.reduce", in, {}, regions);
  }
  Value sum(Value lower, Value upper, Value zero, const std::function<Value(Value)>& term) const {
    return reduce(
        lower, upper, {zero}, [&](Value i) { return Values{term(i)}; },
        [&](ValuesIn a, ValuesIn c) { return Values{add(a[0], c[0])}; })[0];
  }
  Values branch(Value predicate, const std::function<Values()>& yes, const std::function<Values()>& no) const {
    const RegionBody regions[] = {[&](ValuesIn) { return yes(); }, [&](ValuesIn) { return no(); }};
    return b.emit("lir.if_then", ValuesIn(&predicate, 1), {}, regions);
  }
};

/// A graph whose inputs are host buffers.
class Program {
 public:
  Value buffer(DType t, std::int64_t count) {
    TensorType type{t, {Dim(count)}, Space::host};
    return builder_.input(type, "b" + std::to_string(buffers_++));
  }
  void kernel(std::vector<std::int64_t> extents, std::vector<Value> buffers, int writes,
              const std::function<void(const Body&)>& body) {
    lir::KernelAttrs attrs;
    attrs.name = "k" + std::to_string(kernels_++);
    attrs.policy = extents.size() == 1 ? lir::Policy::range : lir::Policy::mdrange;
    attrs.extents = extents;
    attrs.writes = writes;
    const RegionBody region = [&](ValuesIn in) -> Values {
      const std::size_t dims = extents.size();
      Body k{builder_,
             {in.begin(), in.begin() + static_cast<std::ptrdiff_t>(dims)},
             {in.begin() + static_cast<std::ptrdiff_t>(dims), in.end()}};
      body(k);
      return {};
    };
    builder_.emit("lir.kernel", buffers, attrs, std::span<const RegionBody>(&region, 1));
  }
  const Graph& graph() const { return graph_; }

 private:
  Graph graph_{"test"};
  Builder builder_{graph_, registry()};
  int buffers_ = 0, kernels_ = 0;
};

/// Runs all kernels of the program in order on these tensors, which are the buffers in order, and gives them back.
/// `refused` gets what checked kernels refuse.
inline std::vector<HostTensor> run(runtime::Device& device, const Graph& g, std::vector<HostTensor> data,
                                   runtime::CheckReport* refused = nullptr) {
  const auto module = device.compile(g);
  const auto checks = refused ? module->check_record() : nullptr;
  std::vector<runtime::Allocation> memory;
  for (HostTensor& t : data) {
    memory.push_back(device.allocate(t.bytes()));
    device.upload(memory.back(), 0, t.data(), t.bytes());
  }
  std::size_t index = 0;
  for (NodeId id : lir::kernels(g)) {
    std::vector<runtime::KernelBuffer> buffers;
    for (ValueId v : g.node(id).operands) buffers.push_back({&memory[static_cast<std::size_t>(g.value(v).index)], 0});
    module->launch(index++, buffers, checks.get());
  }
  device.synchronize();
  if (checks) *refused = checks->take();
  for (std::size_t i = 0; i < data.size(); ++i) {
    device.download(data[i].mutable_data(), memory[i], 0, data[i].bytes());
    device.release(memory[i]);
  }
  return data;
}

inline std::vector<emit_llvm::Isa> host_levels() {
  std::vector<emit_llvm::Isa> all;
  for (auto i : {emit_llvm::Isa::generic, emit_llvm::Isa::avx2, emit_llvm::Isa::avx512})
    if (i <= emit_llvm::best_host_isa()) all.push_back(i);
  return all;
}
inline std::shared_ptr<cpu::CpuDevice> device_of(emit_llvm::Isa isa, int threads = 1) {
  return cpu::open_device({.isa = isa, .threads = threads, .cache = runtime::DiskCache::Options{}});
}

inline HostTensor random_tensor(DType t, std::int64_t n, unsigned seed, double low = -2, double high = 2) {
  std::mt19937 g(seed);
  std::uniform_real_distribution<double> d(low, high);
  HostTensor x(t, {n});
  for (std::int64_t i = 0; i < n; ++i)
    is_complex(t) ? x.set_c128(i, {d(g), d(g)})
                  : x.set_f64(i, is_integer(t) || t == DType::boolean ? std::round(d(g)) : d(g));
  return x;
}

/// The same bits, or NaN of any payload: which one a conversion gives differs between instruction levels.
inline bool alike(const HostTensor& a, const HostTensor& b) {
  if (a.identical(b)) return true;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.get_f64(i), y = b.get_f64(i);
    if (!(x == y && std::signbit(x) == std::signbit(y)) && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

/// Runs the program at every level and on 1, 2 and 4 threads. Threads never change a bit; levels neither where `same`.
inline std::vector<HostTensor> run_everywhere(const Program& p, const std::vector<HostTensor>& data, bool same = true) {
  std::vector<HostTensor> first;
  for (emit_llvm::Isa isa : host_levels()) {
    std::vector<HostTensor> one;
    for (int threads : {1, 2, 4}) {
      const auto device = device_of(isa, threads);
      const std::vector<HostTensor> r = run(*device, p.graph(), data);
      if (one.empty()) one = r;
      for (std::size_t i = 0; i < r.size(); ++i)
        EXPECT_TRUE(r[i].identical(one[i])) << "buffer " << i << ", " << threads << " threads, " << name(isa);
    }
    if (first.empty() || !same) first = one;
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_TRUE(alike(first[i], one[i])) << "buffer " << i << " at " << name(isa);
  }
  return first;
}

}  // namespace rlx::testing_kernels
