#include "compile/emit_source/scalar.hpp"

#include "compile/emit_source/common.hpp"
#include "compile/emit_source/expand.hpp"
#include "compile/emit_source/literal.hpp"
#include "compile/emit_source/words.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/elementwise.hpp>
#include <rlx/ops/attributes/source.hpp>

namespace rlx::emit_source {
namespace {

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
  return element.round.empty() ? expression : expand(element.round, {{'0', expression}, {'D', name(element.dtype)}});
}

/// What float-to-integer conversion must know of an integer type of `t`'s width: its ends, and as floats the least
/// value and the first one that is too great. Powers of two: exact in every float.
struct Ends {
  std::string least, greatest, float_least, float_end;
};
Ends ends_of(const Dialect& dialect, DType t) {
  if (!is_integer(t)) return {};
  const int bits = bit_width(t) - is_signed_integer(t);
  const std::int64_t least = is_signed_integer(t) ? INT64_MIN >> (63 - bits) : 0;
  const auto greatest = static_cast<std::int64_t>(UINT64_MAX >> (64 - bits));
  const std::string end = "0x1p" + std::to_string(bits) + "f";
  return {literal(dialect, HostTensor::scalar_i64(t, least)), literal(dialect, HostTensor::scalar_i64(t, greatest)),
          is_signed_integer(t) ? "-" + end : "0.0f", end};
}

/// The expression by the first row that fits and whose words the dialect has, rounded to the type of the result.
std::optional<std::string> spelling(const Dialect& dialect, std::string_view op, DType in, DType out,
                                    std::span<const std::string> operands, const ops::ReducePrecisionAttrs* reduced) {
  const Element *result = find_element(dialect, out), *source = find_element(dialect, in);
  if (!result || !source) return std::nullopt;
  const Element *part = find_element(dialect, real_of(out)), *source_part = find_element(dialect, real_of(in));
  const NativeType* native = native_type(dialect, out);
  const std::string width = std::to_string(bit_width(in));
  const std::string exponent = reduced ? std::to_string(reduced->exponent_bits) : "";
  const std::string mantissa = reduced ? std::to_string(reduced->mantissa_bits) : "";
  const Ends ends = op == "convert" ? ends_of(dialect, out) : Ends{};
  const auto operand = [&](std::size_t i) {
    return i < operands.size() ? std::string_view(operands[i]) : std::string_view();
  };
  for (std::span<const Spelling> table : {dialect.spellings, arithmetic_spellings, math_spellings, single_spellings,
                                          conversion_spellings, complex_spellings})
    for (const Spelling& s : table) {
      if (s.op != op || !s.in.contains(in) || !s.out.contains(out) || lacks(dialect, s.needs)) continue;
      std::string text = expand(s.text, {{'0', operand(0)},
                                         {'1', operand(1)},
                                         {'2', operand(2)},
                                         {'T', result->value},
                                         {'S', source->value},
                                         {'R', name(out)},
                                         {'D', name(in)},
                                         {'C', part ? part->value : ""},
                                         {'P', source_part ? source_part->value : ""},
                                         {'N', native ? native->name : ""},
                                         {'U', source->computing},
                                         {'V', source->unsigned_same},
                                         {'W', width},
                                         {'l', ends.least},
                                         {'g', ends.greatest},
                                         {'j', ends.float_least},
                                         {'k', ends.float_end},
                                         {'e', exponent},
                                         {'m', mantissa}});
      if (!says(dialect, text)) continue;
      return s.exact ? text : rounded(*result, std::move(text));
    }
  return std::nullopt;
}

std::string bitcast(const Dialect& dialect, const Node& node, DType from, DType to, const std::string& operand) {
  if (bit_width(from) != bit_width(to)) refuse(dialect, node, "a bitcast between widths");
  if (from == to) return operand;
  const std::string bits = expand(element_of(dialect, node, from).to_bits, {{'0', operand}, {'D', name(from)}});
  return expand(element_of(dialect, node, to).from_bits, {{'0', bits}, {'D', name(to)}});
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
  const std::string operands[] = {"x", "y", "z"};
  if (!spelling(dialect, spelled, in, out, operands, nullptr)) return no(missing_spelling(spelled, in, out));
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
  if (node.op->name() == "constant") return literal(dialect, node.attrs.as<ops::ConstantAttrs>().value);
  if (operands.empty()) refuse(dialect, node, "scalar operators without operands");
  const DType in = scalar_dtype(dialect, graph, node, node.operands.back());
  if (node.op->name() == "bitcast") return bitcast(dialect, node, in, out, operands[0]);
  if (node.op->name() == "convert" && in == out) return operands[0];
  const std::string spelled = spelled_name(*node.op, node.attrs);
  std::optional<std::string> text =
      spelling(dialect, spelled, in, out, operands, node.attrs.get_if<ops::ReducePrecisionAttrs>());
  if (!text) refuse(dialect, node, missing_spelling(spelled, in, out));
  return *std::move(text);
}

}  // namespace rlx::emit_source
