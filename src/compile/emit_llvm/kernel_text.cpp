// The text that stands for the code of a program's kernels: all that the emitter looks at, and nothing that a launch
// hands over, so that programs whose sizes differ find the code of each other.
#include "compile/emit_llvm/plan.hpp"
#include "compile/emit_llvm/prefetch.hpp"

#include <rlx/ir/op.hpp>

#include <unordered_map>

namespace rlx::emit_llvm {

namespace {

/// One kernel's, with its plan's decisions. Values are numbered in order of appearance.
class TextOfKernel {
 public:
  TextOfKernel(const Graph& g, const KernelPlan& plan) : g_(g), plan_(plan) {
    const Node& n = g.node(plan.node);
    auto a = *plan.attrs;
    if (!a.extents.empty()) a.extents[0] = 0;
    node(plan.node, n, a);
    text += std::to_string(plan.lanes) + ' ' + std::to_string(plan.tile) + (plan.cut ? " cut" : "") +
            (plan.piecewise ? " piecewise " : " ");
    for (ValueId v : n.operands) text += comes_from_memory(g_.tensor_type(v)) ? 'm' : 'c';
    // Overlap of buffers decides which loads may move.
    for (const std::vector<bool>& row : plan.disjoint) {
      text += ' ';
      for (bool apart : row) text += apart ? '1' : '0';
    }
    text += '\n';
  }
  std::string text;

 private:
  void node(NodeId id, const Node& n, const AnyAttrs& attrs) {
    for (ValueId v : n.results) value(v);
    text += n.op->name();
    if (const auto it = plan_.loop_lanes.find(id); it != plan_.loop_lanes.end()) text += std::to_string(it->second);
    if (!attrs.get_if<lir::SizeAttrs>() && !attrs.get_if<lir::CheckAttrs>()) attrs.print(text);
    text += '(';
    for (ValueId v : n.operands) value(v);
    text += ')';
    for (RegionId r : n.regions) region(r);
    text += '\n';
  }
  // Of a buffer the code knows what its elements are, and not how many.
  void value(ValueId v) {
    const TensorType& t = g_.tensor_type(v);
    text += '%' + std::to_string(numbers_.try_emplace(v, numbers_.size()).first->second) + ':';
    ((text += name(t.dtype)) += t.space == Space::value ? "" : "*") += ' ';
  }
  void region(RegionId r) {
    text += "{";
    for (ValueId v : g_.region(r).arguments) value(v);
    text += ":\n";
    for (NodeId id : g_.region(r).nodes) node(id, g_.node(id), g_.node(id).attrs);
    for (ValueId v : g_.region(r).results) value(v);
    text += "}";
  }
  const Graph& g_;
  const KernelPlan& plan_;
  std::unordered_map<ValueId, std::size_t> numbers_;
};

}  // namespace

std::string kernel_text(const ProgramPlan& plan) {
  std::string text;
  for (const KernelPlan& k : plan.kernels()) text += TextOfKernel(plan.lir(), k).text;
  return text;
}

}  // namespace rlx::emit_llvm
