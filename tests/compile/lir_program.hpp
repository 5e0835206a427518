// LIR programs written by hand, for tests of what is checked of them.
#pragma once
#include "compile/lir/verify_program.hpp"

#include "kernel_program.hpp"

#include <rlx/ir/verify.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rlx::testing_kernels {

constexpr compile::MemoryPlan small_arena{1024};

// A program under construction whose steps all say that they were made, from nothing in particular.
struct LirProgram {
  Graph g{"lir"};
  Builder b{g, registry()};
  DispatchReport report{};
  compile::StepSources sources{};
  Target target{.alignment = 64};
  int kernels = 0;

  static TensorType type(std::int64_t n, DType t = DType::f32) { return {t, {Dim(n)}, Space::device}; }
  Value input(std::int64_t n) { return b.input(type(n), "x" + std::to_string(g.inputs().size())); }
  Value buffer(std::int64_t n, std::int64_t offset = -1, lir::Lifetime lifetime = lir::Lifetime::transient) {
    return b.emit1("lir.buffer", {}, lir::BufferAttrs{.type = type(n), .lifetime = lifetime, .offset = offset});
  }
  Value output(std::int64_t n) {
    const Value v = buffer(n, -1, lir::Lifetime::output);
    b.output(v, "y" + std::to_string(g.outputs().size()));
    return v;
  }
  Value flag(std::int64_t offset = -1) {
    return b.emit1("lir.buffer", {},
                   lir::BufferAttrs{.type = TensorType{DType::boolean, {}, Space::device}, .offset = offset});
  }
  // Stores a number to element 0 of each written buffer, whatever it reads; or what `body` says.
  std::string kernel(const Values& reads, const Values& writes, const std::function<void(const Body&)>& body = {}) {
    Values all = reads;
    all.insert(all.end(), writes.begin(), writes.end());
    lir::KernelAttrs a;
    a.name = "k" + std::to_string(kernels++);
    a.extents = {1};
    a.writes = static_cast<int>(writes.size());
    const RegionBody region = [&](ValuesIn in) -> Values {
      const Body k{b, {in[0]}, {in.begin() + 1, in.end()}};
      if (body) body(k);
      else
        for (std::size_t i = reads.size(); i < all.size(); ++i)
          k.store(i, k.index[0], k.number(all[i].tensor().dtype, 1));
      return {};
    };
    b.emit("lir.kernel", all, a, std::span(&region, 1));
    claim();
    return a.name;
  }
  NodeId last() const { return g.region(b.region()).nodes.back(); }
  void claim() { sources[last()] = {}; }
  void copy(Value from, Value to) {
    b.emit("lir.copy", {from, to});
    claim();
  }
  // A record's launch.
  void call(const Values& reads, const Values& writes, const std::vector<std::string>& prologues,
            const std::string& epilogue = "") {
    Values all = reads;
    all.insert(all.end(), writes.begin(), writes.end());
    const lir::CallAttrs a{.record = "r",
                           .op = "exp",
                           .operands = static_cast<int>(reads.size()),
                           .prologues = prologues,
                           .epilogue = epilogue};
    b.emit("lir.call", all, a);
    claim();
  }
  // The token of steps on a queue of their own.
  Value start(std::int64_t queue, const std::function<void()>& steps) {
    const RegionBody region = [&](ValuesIn) { return steps(), Values{}; };
    const Value token = b.emit("lir.start", {}, lir::StartAttrs{queue}, std::span(&region, 1))[0];
    claim();
    return token;
  }
  void done(Value token) {
    b.emit("lir.done", {token});
    claim();
  }
  void loop(const std::function<Value()>& condition, const std::function<void()>& body) {
    const std::vector<RegionBody> regions{[&](ValuesIn) { return Values{condition()}; },
                                          [&](ValuesIn) { return body(), Values{}; }};
    b.emit("lir.while", {}, lir::LoopAttrs{}, regions);
    claim();
  }
  void branch(Value predicate, const std::function<void()>& yes, const std::function<void()>& no) {
    const std::vector<RegionBody> regions{[&](ValuesIn) { return yes(), Values{}; },
                                          [&](ValuesIn) { return no(), Values{}; }};
    b.emit("lir.if", ValuesIn(&predicate, 1), {}, regions);
    claim();
  }

  void check(const std::optional<compile::MemoryPlan>& plan = {}) const {
    verify(g, Level::lir);
    compile::verify_program(g, target, sources, report, plan);
  }
  // The rule that refuses it, "" where none does.
  std::string refused(const std::optional<compile::MemoryPlan>& plan = {}) const {
    verify(g, Level::lir);
    try {
      compile::verify_program(g, target, sources, report, plan);
    } catch (const VerifyError& e) { return e.constraint(); }
    return "";
  }
};

}  // namespace rlx::testing_kernels
