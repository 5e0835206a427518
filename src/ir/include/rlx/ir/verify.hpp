// The rules of each level, checked after every pass.
#pragma once
#include <rlx/ir/graph.hpp>

namespace rlx {

enum class Level : std::uint8_t { hir, mir, lir };

/// Throws VerifyError naming the node (as print shows it), its location and the rule. All levels: the lists of nodes,
/// values, regions and names agree with each other ("structure", "names", "symbols", "nesting"); values are defined
/// before use and in scope ("scope"); sparse inputs have a place for each entry ("entries"); what Op::check says;
/// regions have the arguments that the operator states
/// ("regions"); types equal what `infer` gives ("type", "arity", "infer"). hir: no record ("record"), no lir operator
/// or buffer ("level"), regions use no values of outer ones ("closed"). mir: the last two, and every node is a
/// primitive or carries a record ("record"), no value is spread over ranks ("sharding"), and elements are of a type in
/// `storage`, what the target stores ("dtype"). lir: no value is spread over ranks; captures are allowed; what buffers
/// and steps owe each other is checked by compile::verify_program.
RLX_API void verify(const Graph& g, Level level, DTypeSet storage = storable);

}  // namespace rlx
