#include "compile/emit_source/scalar.hpp"

#include "compile/emit_source/expand.hpp"
#include "compile/emit_source/literal.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes.hpp>

namespace rlx::emit_source {
namespace {

const Spelling* find_spelling(const Dialect& dialect, std::string_view op, DType in, DType out) {
  for (std::span<const Spelling> table : dialect.spellings)
    for (const Spelling& s : table)
      if (s.op == op && s.in.contains(in) && s.out.contains(out)) return &s;
  return nullptr;
}

/// Key in the tables of spellings.
std::string spelled_name(const Op& op, const AnyAttrs& attrs) {
  std::string key(op.name());
  if (key == "compare")
    key += "." +
           std::string(enum_names(ops::Direction{})[static_cast<std::size_t>(attrs.as<ops::CompareAttrs>().direction)]);
  return key;
}

std::string missing_type(DType t) { return "type for " + std::string(name(t)); }
std::string missing_spelling(const std::string& op, DType in, DType out) {
  return "spelling of " + op + " from " + std::string(name(in)) + " to " + std::string(name(out));
}

std::string rounded(const Element& element, std::string expression) {
  return element.round.empty() ? expression : expand(element.round, {{'0', expression}});
}

std::string bitcast(const Dialect& dialect, const Node& node, DType from, DType to, const std::string& operand) {
  if (bit_width(from) != bit_width(to)) refuse(dialect, node, "a bitcast between widths");
  if (from == to) return operand;
  return expand(element_of(dialect, node, to).from_bits,
                {{'0', expand(element_of(dialect, node, from).to_bits, {{'0', operand}})}});
}

DType scalar_dtype(const Dialect& dialect, const Graph& graph, const Node& node, ValueId v) {
  const TensorType& t = graph.tensor_type(v);
  if (t.space != Space::value || !t.is_scalar())
    refuse(dialect, node, "a value of type " + to_string(Type(t)) + " in a kernel body");
  return t.dtype;
}

}  // namespace

void refuse(const Dialect& dialect, const Node& node, const std::string& why) {
  const std::string op(node.op->name()), where = node.location.to_string();
  throw VerifyError(op, "dialect",
                    op + ": " + std::string(dialect.name) + " has no " + why + (where.empty() ? "" : "  " + where));
}

Answer expresses(const Dialect& dialect, const Instance& instance) {
  const auto no = [&](const std::string& what) { return Answer::no(std::string(dialect.name) + " has no " + what); };
  for (const std::span<const Type> types : {instance.signature.types, std::span<const Type>(instance.results)})
    for (const Type& t : types) {
      const auto* x = std::get_if<TensorType>(&t);
      if (x && !find_element(dialect, x->dtype)) return no(missing_type(x->dtype));
    }
  const std::string_view op = instance.op->name();
  // Whatever else is made of loops, loads and stores, and of scalar operators that are asked for on their own.
  if (!instance.op->has_trait(Trait::elementwise) || op == "bitcast") return true;
  const DType in = std::get<TensorType>(instance.signature.types.back()).dtype;
  const DType out = std::get<TensorType>(instance.results.front()).dtype;
  if (op == "convert" && in == out) return true;
  const std::string spelled = spelled_name(*instance.op, *instance.attrs);
  if (!find_spelling(dialect, spelled, in, out)) return no(missing_spelling(spelled, in, out));
  return true;
}

const Element& element_of(const Dialect& dialect, const Node& node, DType t) {
  const Element* e = find_element(dialect, t);
  if (!e) refuse(dialect, node, missing_type(t));
  return *e;
}

std::string scalar_expression(const Dialect& dialect, const Graph& graph, const Node& node,
                              std::span<const std::string> operands) {
  if (node.results.size() != 1) refuse(dialect, node, "scalar operators with several results");
  const DType out = scalar_dtype(dialect, graph, node, node.results[0]);
  const Element& result = element_of(dialect, node, out);
  if (node.op->name() == "constant") return literal(dialect, result, node.attrs.as<ops::ConstantAttrs>().value);
  if (operands.empty()) refuse(dialect, node, "scalar operators without operands");
  const DType in = scalar_dtype(dialect, graph, node, node.operands.back());
  if (node.op->name() == "bitcast") return bitcast(dialect, node, in, out, operands[0]);
  if (node.op->name() == "convert" && in == out) return operands[0];
  const std::string spelled = spelled_name(*node.op, node.attrs);
  const Spelling* row = find_spelling(dialect, spelled, in, out);
  if (!row) refuse(dialect, node, missing_spelling(spelled, in, out));
  const Element& source = element_of(dialect, node, in);
  const Element* part = find_element(dialect, real_of(out));
  const std::string width = std::to_string(bit_width(in));
  std::string exponent, mantissa;
  if (const auto* p = node.attrs.get_if<ops::ReducePrecisionAttrs>()) {
    exponent = std::to_string(p->exponent_bits);
    mantissa = std::to_string(p->mantissa_bits);
  }
  const auto operand = [&](std::size_t i) {
    return i < operands.size() ? std::string_view(operands[i]) : std::string_view();
  };
  std::string text = expand(row->text, {{'0', operand(0)},
                                        {'1', operand(1)},
                                        {'2', operand(2)},
                                        {'T', result.value},
                                        {'S', source.value},
                                        {'R', name(out)},
                                        {'D', name(in)},
                                        {'C', part ? part->value : ""},
                                        {'U', source.computing},
                                        {'V', source.unsigned_same},
                                        {'W', width},
                                        {'e', exponent},
                                        {'m', mantissa}});
  return row->exact ? text : rounded(result, std::move(text));
}

}  // namespace rlx::emit_source
