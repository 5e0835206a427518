#include "compile/slab_limits.hpp"

#include "compile/lir/effects.hpp"
#include "compile/lower/lower.hpp"
#include "compile/refuse.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace rlx::compile {
namespace {

class SlabLimits {
 public:
  SlabLimits(const Graph& g, const Target& target, const DispatchReport& report)
      : g_(g), target_(target), report_(report) {}

  void run(std::int64_t arena_bytes) {
    add("the program's arena", arena_bytes);
    for (std::size_t i = 0; i < g_.inputs().size(); ++i) add("input \"" + g_.input_names[i] + "\"", g_.inputs()[i]);
    region(Graph::top);
    if (total_ > target_.max_bytes)
      throw MemoryError("the program with all its slabs", static_cast<std::uint64_t>(total_),
                        static_cast<std::uint64_t>(target_.max_bytes));
  }

 private:
  static constexpr ValueId arena = -1;

  void add(const std::string& what, ValueId v) {
    if (const auto* t = std::get_if<TensorType>(&g_.type(v))) add(what, byte_size(t->dtype, t->numel().constant()));
  }
  void add(const std::string& what, std::int64_t bytes) {
    if (bytes > target_.max_slab_bytes)
      throw MemoryError(what, static_cast<std::uint64_t>(bytes), static_cast<std::uint64_t>(target_.max_slab_bytes));
    if (__builtin_add_overflow(total_, bytes, &total_)) total_ = INT64_MAX;
  }

  void region(RegionId r) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      const std::string_view op = n.op->name();
      if (op == "lir.buffer") buffer(n);
      else if (op == "lir.kernel" || op == "lir.call" || op == "lir.copy") dispatch(n, lir::effects(g_, {id}));
      else
        for (RegionId inner : n.regions) region(inner);
    }
  }

  void buffer(const Node& n) {
    const lir::Lifetime l = n.attrs.as<lir::BufferAttrs>().lifetime;
    if (l == lir::Lifetime::constant) add("a constant of the program", n.results[0]);
    if (l == lir::Lifetime::output) add("a result of the program", n.results[0]);
  }

  std::set<ValueId> slabs(const std::set<ValueId>& roots) const {
    std::set<ValueId> out;
    for (ValueId v : roots) {
      if (!std::holds_alternative<TensorType>(g_.type(v))) continue;
      const NodeId made = g_.value(v).node;
      const auto* b = made < 0 ? nullptr : g_.node(made).attrs.get_if<lir::BufferAttrs>();
      if (b && b->lifetime == lir::Lifetime::piecewise) continue;
      out.insert(b && b->lifetime == lir::Lifetime::transient ? arena : v);
    }
    return out;
  }

  void dispatch(const Node& step, const lir::Effects& e) const {
    const std::set<ValueId> read = slabs(e.reads), written = slabs(e.writes);
    std::set<ValueId> bound = read;
    bound.insert(written.begin(), written.end());
    if (static_cast<std::int64_t>(bound.size()) > target_.max_slabs)
      refuse_step(report_, step,
                  "binds " + counted(bound.size(), "slab") + ", and " + target_.device + " takes " +
                      std::to_string(target_.max_slabs) + " in one dispatch");
    const auto both = std::find_if(read.begin(), read.end(), [&](ValueId v) { return written.contains(v); });
    if (!target_.slab_reads_and_writes && both != read.end())
      refuse_step(report_, step,
                  std::string("reads and writes ") + (*both == arena ? "the arena" : to_string(g_.type(*both))) +
                      ", and " + target_.device + " takes no slab for both in one dispatch");
  }

  const Graph& g_;
  const Target& target_;
  const DispatchReport& report_;
  std::int64_t total_ = 0;
};

}  // namespace

void check_byte_sizes(const Graph& mir) {
  const auto check = [](const TensorType& t) {
    constexpr std::int64_t most = INT64_MAX - (1 << 20);  // Less than what rounding up may add.
    if (t.numel().constant() > most / bit_width(t.dtype))
      throw MemoryError("a value of type " + to_string(Type(t)), UINT64_MAX, most / 8);
  };
  for (std::size_t v = 0; v < mir.value_count(); ++v) {
    const Type& t = mir.type(static_cast<ValueId>(v));
    if (const auto* x = std::get_if<TensorType>(&t)) check(*x);
    else if (const auto* s = std::get_if<SparseType>(&t)) std::ranges::for_each(sparse_parts(*s), check);
  }
}

void check_slab_limits(const Graph& lir, const Target& target, std::int64_t arena_bytes, const DispatchReport& report) {
  SlabLimits(lir, target, report).run(arena_bytes);
}

}  // namespace rlx::compile
