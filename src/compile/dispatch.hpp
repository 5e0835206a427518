// Resolution of every operator instance to a native, common-IR or rewritten lowering: HIR in, MIR out.
#pragma once
#include <rlx/compile/compile.hpp>

namespace rlx::compile {

/// A named rule of the rewritten path: the node becomes others, which are resolved in turn.
struct RewriteRule {
  std::string_view name, op;
  bool prefer = false;  ///< Tried before the common path.
  Answer (*applies)(const Instance&);
  Values (*apply)(Builder&, const Instance&, const Graph& graph, const Node& node, ValuesIn operands);
};
/// All rules, in the order in which they are tried. rewrite/all_rules.inc has one line each.
std::span<const RewriteRule* const> rewrite_rules();

/// Whether a dot_general has no free dimensions: the generated form of it is a reduction
/// (rewrite/dot_by_reduction.cpp).
Answer is_dot_product(const Instance& instance);

/// Whether code for this primitive can be generated on the target; a no says why.
Answer can_generate(const Instance& instance);

/// `hir` has its rows in `report` (open_rows.hpp), which says afterwards how each was resolved; those that a pass
/// before this one resolved keep what it said. What stays unresolved is placed all the same, so that one error can list
/// all.
Graph dispatch(const Graph& hir, const Registry& registry, const Target& target, std::span<const KernelRecord> records,
               const CompileOptions& options, DispatchReport& report);

}  // namespace rlx::compile
