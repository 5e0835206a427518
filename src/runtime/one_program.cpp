// A compiled program: immutable, called by several threads at once, each call with an arena of the pool.
#include "compile/index_check.hpp"
#include "ir/within.hpp"
#include "runtime/compiled_graph.hpp"
#include "runtime/index_checks.hpp"
#include "runtime/loaded_program.hpp"
#include "runtime/program_call.hpp"

#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/located.hpp>
#include <rlx/ir/memory.hpp>
#include <rlx/ir/sizes.hpp>
#include <rlx/ops/attributes/source.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace rlx::runtime {

/// What the user wrote there; empty: nothing that is known.
static std::string user_operator(const DispatchReport& report, int row) {
  const auto at = static_cast<std::size_t>(row);
  return row >= 0 && at < report.rows.size() ? report.rows[at].op : std::string();
}

void LoadedProgram::refuse(const CheckReport& c) const {
  if (!c.what.of.empty()) {
    try {
      throw size_error(c.what.of, c.what.kind, c.index);
    } catch (const NumericalError&) { detail::rethrow_as(user_operator(program.report, c.what.row)); }
  }
  throw ArgumentError(compile::index_error(c.what, c.index, *name, program.report));
}

namespace {

// Whether it refuses numbers in any mode: what check_within says is an operator's NumericalError.
bool watches_numbers(const Graph& mir) {
  for (std::size_t i = 0; i < mir.node_count(); ++i)
    if (const auto* a = mir.node(static_cast<NodeId>(i)).attrs.get_if<ops::CheckWithinAttrs>(); a && !a->of.empty())
      return true;
  return false;
}

std::vector<OutputMemory> output_memory(const LoadedProgram& p) {
  std::vector<OutputMemory> out;
  for (const Place& place : p.steps.places)  // A view comes after what it is a view of.
    if (place.kind == Place::Kind::output && place.index == out.size())
      out.push_back({place.type.dtype, constant_shape(place.type.shape)});
  // Which result stands where is plain where none is made of several arrays.
  if (p.steps.output_places.size() != p.output_types.size() + p.program.sizes.size()) return out;
  for (std::size_t i = 0; i < p.output_types.size(); ++i)
    if (const int place = p.steps.output_places[i]; place >= 0 && p.place(place).kind == Place::Kind::output)
      out[p.place(place).index].result = i;
  return out;
}

// An infinite argument may be meant (a mask), NaN is not.
void refuse_nan(std::span<const HostValue> arguments, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const HostTensor* t : arrays(arguments[i]))
      if (const Worst w = worst_of(*t); w.numbers == Numbers::nan)
        throw NonFiniteError("argument",
                             "argument \"" + names[i] + "\" holds NaN at element " + std::to_string(w.index), {});
}

class OneProgram final : public CompiledGraph {
 public:
  OneProgram(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog, const CompileOptions& options,
             const RowNames& names, Results results)
      : registry_(catalog.operators), inputs_(hir) {
    p_.device = std::move(device);
    p_.records = records_of(*p_.device, catalog);
    const Target& target = p_.device->target();
    p_.program = compile_program(hir, registry_, target, p_.records, options);
    names.put(p_.program.report);
    p_.steps = prepare(p_.program, registry_, target, p_.records);
    if (!target.interprets()) p_.module = p_.device->compile(p_.program.lir);
    p_.output_types = hir.types_of(hir.outputs());
    p_.outputs = output_memory(p_);
    p_.padded_results = results == Results::padded;
    p_.donated = options.donated;
    p_.checked = options.checked;
    p_.numerics = options.check_numerics;
    p_.watches = watches_numbers(p_.program.mir);
    p_.name = std::make_shared<const std::string>(hir.name);
    p_.trace = Trace::of_process();
    for (const HostTensor& t : p_.steps.constants) {
      p_.constants.push_back(constant_on(p_.device, t));
      p_.meter.add(t.bytes());
    }
    for (const Call& c : p_.steps.calls) p_.workspace_bytes = std::max(p_.workspace_bytes, c.workspace_bytes);
    // Arena and workspace are one allocation.
    if (const std::int64_t most = target.max_slab_bytes; p_.workspace_bytes > most - p_.steps.arena_bytes)
      throw MemoryError(
          "the program's arena with the workspace of its calls",
          static_cast<std::uint64_t>(p_.steps.arena_bytes) + static_cast<std::uint64_t>(p_.workspace_bytes),
          static_cast<std::uint64_t>(most));
  }

  HostValues run(Arguments arguments, HostValues reuse) override {
    inputs_.check(arguments.values());
    ++calls_;
    if (p_.numerics) refuse_nan(arguments.values(), inputs_.names);
    if (p_.device->target().interprets()) {
      HostValues out = interpret(arguments.values());
      for (std::size_t i : p_.donated) arguments.to_take(i) = HostToken{};
      return out;
    }
    HostValues out;
    {
      const LentArena arena(*this);
      out = ProgramCall(p_, *arena.block, arguments, std::move(reuse)).run();
    }
    if (p_.trace) p_.trace->write_if_due();
    return out;
  }

  const DispatchReport& report() const override { return p_.program.report; }
  const Graph& lir() const override { return p_.program.lir; }
  std::int64_t bytes_per_call() const override { return p_.arena_and_workspace() + p_.steps.output_bytes; }
  void trim() override {
    const std::lock_guard lock(mutex_);
    arenas_.clear();
  }
  ExecutableStatistics statistics() const override {
    return {calls_, p_.meter.peak(), p_.in_place_bytes, p_.copied_bytes, 1, code() ? 1 : 0};
  }
  void add_codes(std::set<const void*>& codes) const override {
    if (code()) codes.insert(code());
  }

 private:
  const void* code() const { return p_.module ? p_.module->code() : nullptr; }
  HostValues interpret(std::span<const HostValue> arguments) const {
    int row = -1;  // Of the check that runs, whose refusal is a NumericalError.
    const NodeWatch before = [&](const Node& n, auto operands, auto results) {
      const auto* check = n.attrs.get_if<ops::CheckWithinAttrs>();
      row = check && !check->of.empty() ? n.origin : -1;
      if (!p_.checked) return;
      if (const CheckReport c = check_indices(n, operands, results); c.refused()) p_.refuse(c);
    };
    ResultWatch numbers;
    if (p_.numerics) numbers = [&](const Evaluated& e) { check_evaluated(e, p_.program.report, *p_.name); };
    try {
      return evaluate(p_.program.mir, registry_, arguments, before, numbers);
    } catch (const NumericalError&) { detail::rethrow_as(user_operator(p_.program.report, row)); }
  }

  // An arena for as long as a call lasts: one that an earlier call left, or a new one. Throws where what the call has
  // to allocate is not to be had.
  struct LentArena {
    explicit LentArena(OneProgram& from) : owner(from), block(from.arena_left()) {
      const std::int64_t arena = owner.p_.arena_and_workspace();
      owner.require_room(owner.p_.steps.output_bytes + (block ? 0 : arena));
      if (!block) block.emplace(*owner.p_.device, owner.p_.meter, arena);
    }
    ~LentArena() { owner.give_arena(std::move(*block)); }
    OneProgram& owner;
    std::optional<Block> block;
  };
  std::optional<Block> arena_left() {
    const std::lock_guard lock(mutex_);
    if (arenas_.empty()) return std::nullopt;
    std::optional<Block> left(std::move(arenas_.back()));
    arenas_.pop_back();
    return left;
  }
  void require_room(std::int64_t bytes) const {
    if (bytes >= worth_asking)
      require_memory("a call of program \"" + *p_.name + "\"", static_cast<std::uint64_t>(bytes));
  }
  void give_arena(Block b) noexcept try {
    const std::lock_guard lock(mutex_);
    arenas_.push_back(std::move(b));
  } catch (...) {  // No room to keep it: it is released, and the next call takes another.
  }

  const Registry& registry_;
  Inputs inputs_;
  LoadedProgram p_;
  std::atomic<std::int64_t> calls_{0};
  std::mutex mutex_;
  std::vector<Block> arenas_;
};

}  // namespace

std::unique_ptr<CompiledGraph> one_program(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                                           const CompileOptions& options, const RowNames& names, Results results) {
  return std::make_unique<OneProgram>(std::move(device), hir, catalog, options, names, results);
}

}  // namespace rlx::runtime
