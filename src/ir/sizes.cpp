#include <rlx/ir/op.hpp>
#include <rlx/ir/sizes.hpp>

#include <algorithm>

namespace rlx {

SizeBounds size_bounds(const SymbolTable& symbols, const Node& n, const AnyAttrs& attrs, const Types& operands) {
  SizeBounds b;
  if (const auto it = symbols.find(n.op->introduces(n.attrs)); it != symbols.end())
    b = {std::max<std::int64_t>(it->second.lower, 0), it->second.upper};
  const Dim bound = n.op->count_bound(attrs, Signature{operands, {}, &symbols});
  if (!(bound == -1)) b.upper = std::min(b.upper, bounds(bound, symbols).upper);
  return b;
}

std::string size_text(std::string_view op, std::string_view name, const SizeBounds& b, const Location& where) {
  std::string text = "size " + (name.empty() ? "" : std::string(name) + " ") + "of " + std::string(op);
  std::string inside;
  if (b.lower > 0) inside = "at least " + std::to_string(b.lower);
  if (b.finite()) inside += (inside.empty() ? "at most " : ", at most ") + std::to_string(b.upper);
  if (!where.file.empty()) inside += (inside.empty() ? "" : ", ") + where.to_string();
  return inside.empty() ? text : text + " (" + inside + ")";
}

NumericalError size_error(std::string_view op, const std::string& text, std::int64_t value) {
  return {std::string(op), value, text + " is " + std::to_string(value)};
}

}  // namespace rlx
