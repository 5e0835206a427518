// Sizes that nodes introduce: what bounds them, and what is said of one outside its bounds.
#pragma once
#include <rlx/ir/error.hpp>
#include <rlx/ir/graph.hpp>
#include <rlx/ir/type.hpp>

#include <cstdint>
#include <string>

namespace rlx {

/// Inclusive. `upper` is INT64_MAX where neither the graph nor the operator knows a bound.
struct SizeBounds {
  std::int64_t lower = 0, upper = INT64_MAX;
  bool finite() const { return upper != INT64_MAX; }
};
/// Of the size that `n` introduces: what its symbol declares in `symbols`, and the most that the operator says of
/// operands of these types. `attrs` are the node's, with what is known put in.
RLX_API SizeBounds size_bounds(const SymbolTable& symbols, const Node& n, const AnyAttrs& attrs, const Types& operands);

/// "size k of nonzero (at most 8, main.rlx:5)", for messages; without a name: "size of nonzero (at most 8)".
RLX_API std::string size_text(std::string_view op, std::string_view name, const SizeBounds& bounds,
                              const Location& where = {});
/// `text` as size_text() gives it.
RLX_API NumericalError size_error(std::string_view op, const std::string& text, std::int64_t value);

}  // namespace rlx
