#include "compile/reuse_donated.hpp"

#include "compile/in_place.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace rlx::compile {
namespace {

class Donation {
 public:
  Donation(Graph& g, DispatchReport& report) : g_(g), report_(report) {
    int time = -1;
    bool joined = false;  // To the step before: a call and its kernels are one.
    for (NodeId id : g_.region(Graph::top).nodes) {
      const Node& n = g_.node(id);
      if (n.op->name() == "lir.buffer") continue;
      if (n.op->name() == "lir.view") {
        find_view(n);
        continue;
      }
      if (!joined) ++time;
      const auto* call = n.attrs.get_if<lir::CallAttrs>();
      joined = call ? !call->epilogue.empty() : lir::is_prologue(g_, n);
      std::set<ValueId> named;
      names(n, named);
      for (ValueId v : named) uses_[v].push_back({time, id});
    }
  }

  void offer(ValueId input) {
    const TensorType& t = g_.tensor_type(input);
    DonationRow row{name_of(input), {}, byte_size(t.dtype, t.numel().constant()), {}};
    for (std::size_t i = 0; i < g_.outputs().size() && row.result.empty(); ++i) {
      const ValueId output = g_.outputs()[i];
      const auto* made = buffer(output);
      if (!made || made->lifetime != lir::Lifetime::output || g_.type(output) != g_.type(input)) continue;
      const std::string why = obstacle(input, output);
      if (why.empty()) {
        row.result = g_.output_names[i];
        take(input, output);
      } else if (row.why.empty()) row.why = why + ", so \"" + g_.output_names[i] + "\" has memory of its own";
    }
    if (!row.result.empty()) row.why.clear();
    else if (row.why.empty()) row.why = "no result of its type is left";
    report_.donations.push_back(std::move(row));
  }

 private:
  struct Use {
    int time;
    NodeId step;
  };

  const lir::BufferAttrs* buffer(ValueId v) const {
    const NodeId n = g_.value(v).node;
    return n < 0 ? nullptr : g_.node(n).attrs.get_if<lir::BufferAttrs>();
  }
  std::string name_of(ValueId input) const { return g_.input_names[static_cast<std::size_t>(g_.value(input).index)]; }

  // The buffer or input whose bytes these are, and from which element on.
  std::pair<ValueId, std::int64_t> root(ValueId v) const {
    const auto it = roots_.find(v);
    return it == roots_.end() ? std::pair{v, std::int64_t{0}} : it->second;
  }
  void find_view(const Node& n) {
    auto [of, offset] = root(n.operands[0]);
    roots_[n.results[0]] = {of, offset + n.attrs.as<lir::ViewAttrs>().offset};
  }
  void names(const Node& n, std::set<ValueId>& out) {
    for (ValueId v : n.operands) out.insert(root(v).first);
    if (n.op->name() == "lir.kernel") return;
    for (RegionId r : n.regions) {
      for (NodeId id : g_.region(r).nodes) {
        const Node& inner = g_.node(id);
        if (inner.op->name() == "lir.view") find_view(inner);
        names(inner, out);
      }
      for (ValueId v : g_.region(r).results) out.insert(root(v).first);
    }
  }

  // Why the output cannot stand in the input's memory; empty: it can.
  std::string obstacle(ValueId input, ValueId output) const {
    const auto read = uses_.find(input);
    const auto written = uses_.find(output);
    if (read == uses_.end() || written == uses_.end()) return {};
    const int first = written->second.front().time;
    std::vector<NodeId> both;  // Steps that name the input when the output is written first, or later.
    for (const Use& u : read->second)
      if (u.time >= first) both.push_back(u.step);
    if (both.empty()) return {};
    const Use& writer = written->second.front();
    const bool alone =
        both.size() == 1 && both[0] == writer.step && (written->second.size() == 1 || written->second[1].time > first);
    const Node& n = g_.node(both.back());
    if (alone && (is_copy(n, input, output) || writes_over(n, input, output))) return {};
    return step_name(n) + (alone ? " reads it elsewhere than where it writes" : " reads it later");
  }
  bool is_copy(const Node& n, ValueId input, ValueId output) const {
    return n.op->name() == "lir.copy" && root(n.operands[0]) == std::pair{input, std::int64_t{0}} &&
           root(n.operands[1]) == std::pair{output, std::int64_t{0}};
  }
  bool writes_over(const Node& n, ValueId input, ValueId output) const {
    if (n.op->name() != "lir.kernel") return false;
    std::set<ValueId> from, to;
    for (ValueId v : n.operands) {
      const auto [of, offset] = root(v);
      if ((of == input || of == output) && offset != 0) return false;
      if (of == input) from.insert(v);
      if (of == output) to.insert(v);
    }
    return may_write_over(g_, n, from, to);
  }
  std::string step_name(const Node& n) const {
    if (const auto* k = n.attrs.get_if<lir::KernelAttrs>()) return k->name;
    if (const auto* c = n.attrs.get_if<lir::CallAttrs>()) return c->record;
    return std::string(n.op->name().substr(4));
  }

  void take(ValueId input, ValueId output) {
    std::set<NodeId> gone{g_.value(output).node};
    for (const Use& u : uses_[output])
      if (const Node& n = g_.node(u.step); is_copy(n, input, output)) {
        report_.drop_step("copy", n.origin);
        gone.insert(u.step);
      }
    std::erase_if(g_.region(Graph::top).nodes, [&](NodeId id) { return gone.contains(id); });
    const auto rename = [&](std::vector<ValueId>& list) { std::replace(list.begin(), list.end(), output, input); };
    for (RegionId r = 0; static_cast<std::size_t>(r) < g_.region_count(); ++r) rename(g_.region(r).results);
    for (NodeId n = 0; static_cast<std::size_t>(n) < g_.node_count(); ++n) rename(g_.node(n).operands);
  }

  Graph& g_;
  DispatchReport& report_;
  std::map<ValueId, std::pair<ValueId, std::int64_t>> roots_;  // Of views.
  std::map<ValueId, std::vector<Use>> uses_;                   // By root, in the order of the steps.
};

}  // namespace

void reuse_donated(Graph& lir, const std::vector<ValueId>& donated, DispatchReport& report) {
  Donation d(lir, report);
  for (ValueId v : donated) d.offer(v);
}

}  // namespace rlx::compile
