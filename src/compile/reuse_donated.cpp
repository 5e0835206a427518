#include "compile/reuse_donated.hpp"

#include "compile/in_place.hpp"
#include "compile/lir/effects.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace rlx::compile {
namespace {

class Donation {
 public:
  Donation(Graph& g, DispatchReport& report) : g_(g), report_(report), steps_(g.region(Graph::top).nodes) {
    for (NodeId id : steps_) effects_.push_back(lir::effects(g_, {id}));
  }

  /// Only to a result that is a copy of the input: no other one of its type gains as much.
  void offer_to_copies(ValueId input) {
    for (std::size_t i = 0; i < g_.outputs().size() && !taken_.contains(input); ++i) {
      const ValueId output = g_.outputs()[i];
      const bool copied =
          std::any_of(steps_.begin(), steps_.end(), [&](NodeId id) { return is_copy(g_.node(id), input, output); });
      if (fits(input, output) && copied && take(input, output).empty()) taken_[input] = g_.output_names[i];
    }
  }
  /// To the first result that can stand there.
  void offer(ValueId input) {
    const TensorType& t = g_.tensor_type(input);
    DonationRow row{name_of(input), taken_[input], byte_size(t.dtype, t.numel().constant()), {}};
    for (std::size_t i = 0; i < g_.outputs().size() && row.result.empty(); ++i) {
      if (!fits(input, g_.outputs()[i])) continue;
      const std::string why = take(input, g_.outputs()[i]);
      if (why.empty()) row.result = g_.output_names[i];
      else if (row.why.empty()) row.why = why + ", so \"" + g_.output_names[i] + "\" has memory of its own";
    }
    if (!row.result.empty()) row.why.clear();
    else if (row.why.empty()) row.why = "no result of its type is left";
    report_.donations.push_back(std::move(row));
  }

 private:
  const lir::BufferAttrs* buffer(ValueId v) const {
    const NodeId n = g_.value(v).node;
    return n < 0 ? nullptr : g_.node(n).attrs.get_if<lir::BufferAttrs>();
  }
  bool fits(ValueId input, ValueId output) const {
    const auto* made = buffer(output);
    return made && made->lifetime == lir::Lifetime::output && g_.type(output) == g_.type(input);
  }
  std::string name_of(ValueId input) const { return g_.input_names[static_cast<std::size_t>(g_.value(input).index)]; }
  bool names(std::size_t step, ValueId v) const {
    return effects_[step].reads.contains(v) || effects_[step].writes.contains(v);
  }

  /// Puts the output into the input's memory, or says why not.
  std::string take(ValueId input, ValueId output) {
    std::size_t writer = steps_.size(), last = 0;  // The first step that names the output, the last that the input.
    bool used = false;
    for (std::size_t s = steps_.size(); s-- > 0;) {
      if (names(s, output)) writer = s;
      if (names(s, input) && !used) used = true, last = s;
    }
    if (used && writer < steps_.size() && last >= writer) {
      const Node& n = g_.node(steps_[writer]);
      if (names(writer, input) && !is_copy(n, input, output) && !writes_over(n, input, output))
        return lir::step_name(n) + " reads it elsewhere than where it writes";
      if (last > writer && !moved(writer, last)) return lir::step_name(g_.node(steps_[last])) + " reads it later";
    }
    become(output, input);
    return {};
  }

  /// Moves a step after a later one, unless their order matters to it or to a step between.
  bool moved(std::size_t from, std::size_t to) {
    for (std::size_t s = from + 1; s <= to; ++s)
      if (effects_[from].conflicts(effects_[s])) return false;
    const auto turn = [&](auto& list) {
      const auto at = list.begin() + static_cast<std::ptrdiff_t>(from);
      std::rotate(at, at + 1, list.begin() + static_cast<std::ptrdiff_t>(to) + 1);
    };
    turn(steps_);
    turn(effects_);
    return true;
  }

  // A view from the first element on has the indices of what it is a view of.
  bool is_whole(ValueId v) const {
    for (NodeId d; (d = g_.value(v).node) >= 0 && g_.node(d).op->name() == "lir.view"; v = g_.node(d).operands[0])
      if (g_.node(d).attrs.as<lir::ViewAttrs>().offset != 0) return false;
    return true;
  }
  bool is_copy(const Node& n, ValueId input, ValueId output) const {
    return n.op->name() == "lir.copy" && lir::root(g_, n.operands[0]) == input &&
           lir::root(g_, n.operands[1]) == output && is_whole(n.operands[0]) && is_whole(n.operands[1]);
  }
  bool writes_over(const Node& n, ValueId input, ValueId output) const {
    if (n.op->name() != "lir.kernel") return false;
    std::set<ValueId> from, to;
    for (ValueId v : n.operands) {
      const ValueId of = lir::root(g_, v);
      if ((of == input || of == output) && !is_whole(v)) return false;
      if (of == input) from.insert(v);
      if (of == output) to.insert(v);
    }
    return may_write_over(g_, n, from, to);
  }

  void become(ValueId output, ValueId input) {
    std::set<NodeId> gone{g_.value(output).node};
    for (NodeId id : steps_)
      if (is_copy(g_.node(id), input, output)) gone.insert(id);
    for (std::size_t s = steps_.size(); s-- > 0;) {
      for (auto* list : {&effects_[s].reads, &effects_[s].writes})
        if (list->erase(output)) list->insert(input);
      if (!gone.contains(steps_[s])) continue;
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(s));
      effects_.erase(effects_.begin() + static_cast<std::ptrdiff_t>(s));
    }
    const auto rename = [&](std::vector<ValueId>& list) { std::replace(list.begin(), list.end(), output, input); };
    for (RegionId r = 0; static_cast<std::size_t>(r) < g_.region_count(); ++r) rename(g_.region(r).results);
    for (NodeId n = 0; static_cast<std::size_t>(n) < g_.node_count(); ++n) rename(g_.node(n).operands);
  }

  Graph& g_;
  DispatchReport& report_;
  std::vector<NodeId>& steps_;
  std::vector<lir::Effects> effects_;     // Of each step.
  std::map<ValueId, std::string> taken_;  // Results by the input that they are copies of.
};

}  // namespace

void reuse_donated(Graph& lir, const std::vector<ValueId>& donated, DispatchReport& report) {
  Donation d(lir, report);
  for (ValueId v : donated) d.offer_to_copies(v);
  for (ValueId v : donated) d.offer(v);
}

}  // namespace rlx::compile
