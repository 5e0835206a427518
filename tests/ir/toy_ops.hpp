// A few operators that mean nothing much: what tests of the text form, of attributes and of the verifier are made of.
#pragma once
#include <rlx/ir/op.hpp>
#include <rlx/ir/registry.hpp>

#include <array>

namespace rlx::toy {

inline constexpr Never no_rule{"a toy"};

// --- toy.neg: elementwise ------------------------------------------------------------------------------------------
inline constexpr Operand neg_operands[] = {{"x", numbers}};
inline const OpDef<NoAttributes> neg{
    .name = "toy.neg",
    .doc = "-x",
    .operands = neg_operands,
    .constraints = {},
    .infer = [](const NoAttributes&, const Signature& s) -> Types { return {s.tensor(0)}; },
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) -> HostValues {
      HostTensor y = c.make();
      for (std::int64_t i = 0; i < y.numel(); ++i) y.set_c128(i, -c.tensor(0).get_c128(i));
      return {y};
    }},
    .vjp = no_rule,
    .jvp = no_rule,
    .batch = no_rule,
    .shard = no_rule,
    .cost = no_rule,
    .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; },
    .traits = Trait::elementwise};

// --- toy.add: two operands, one constraint -------------------------------------------------------------------------
inline constexpr Operand add_operands[] = {{"x", numbers}, {"y", numbers}};
inline constexpr Constraint<NoAttributes> add_constraints[] = {
    {"C1", "shape(x) = shape(y)",
     [](const NoAttributes&, const Signature& s) { return s.same_shape(s.shape(0), s.shape(1)); }}};
inline const OpDef<NoAttributes> add{
    .name = "toy.add",
    .doc = "x + y",
    .operands = add_operands,
    .constraints = add_constraints,
    .infer = [](const NoAttributes&, const Signature& s) -> Types { return {s.tensor(0)}; },
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) -> HostValues {
      HostTensor z = c.make();
      for (std::int64_t i = 0; i < z.numel(); ++i) z.set_c128(i, c.tensor(0).get_c128(i) + c.tensor(1).get_c128(i));
      return {z};
    }},
    .vjp = no_rule,
    .jvp = no_rule,
    .batch = no_rule,
    .shard = no_rule,
    .cost = no_rule,
    .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; },
    .traits = Trait::elementwise};

// --- toy.join: variadic, concatenates along the first dimension
// -------------------------------------------------------
inline constexpr Operand join_operands[] = {{.name = "x", .dtypes = numbers, .variadic = true}};
inline constexpr Constraint<NoAttributes> join_constraints[] = {
    {"C1", "one operand or more, of rank 1", [](const NoAttributes&, const Signature& s) -> Answer {
       for (std::size_t i = 0; i < s.size(); ++i)
         if (s.rank(i) != 1) return false;
       return s.size() > 0;
     }}};
inline const OpDef<NoAttributes> join{
    .name = "toy.join",
    .doc = "vectors one behind the other",
    .operands = join_operands,
    .constraints = join_constraints,
    .infer = [](const NoAttributes&, const Signature& s) -> Types {
      Dim n = 0;
      for (std::size_t i = 0; i < s.size(); ++i) n = n + s.shape(i)[0];
      return {tensor(s.dtype(0), {n})};
    },
    .meaning = Extern<NoAttributes>{[](const NoAttributes&, const ReferenceCall&) -> HostValues { return {}; }},
    .vjp = no_rule,
    .jvp = no_rule,
    .batch = no_rule,
    .shard = no_rule,
    .cost = no_rule,
    .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; }};

// --- toy.twice: composite
// ---------------------------------------------------------------------------------------------
inline const OpDef<NoAttributes> twice{
    .name = "toy.twice",
    .doc = "x + x",
    .operands = neg_operands,
    .constraints = {},
    .infer = [](const NoAttributes&, const Signature& s) -> Types { return {s.tensor(0)}; },
    .meaning = Composite<NoAttributes>{[](Builder& b, const NoAttributes&, ValuesIn x) -> Values {
      return b.emit("toy.add", {x[0], x[0]});
    }},
    .vjp = no_rule,
    .jvp = no_rule,
    .batch = no_rule,
    .shard = no_rule,
    .cost = no_rule,
    .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; }};

// --- toy.constant: an attribute of every kind, no operands
// ------------------------------------------------------------
enum class Mode : std::uint8_t { nearest, up, down };
inline constexpr std::array<std::string_view, 3> enum_names(Mode) { return {"nearest", "up", "down"}; }

struct ConstantAttrs {
  HostTensor value{};
  bool flag = false;
  int axis = -1;
  std::int64_t seed = 0;
  double scale = 1;
  std::string label{};
  DType dtype = DType::f32;
  Dim size = 1;
  Type type = f32({});
  Mode mode = Mode::nearest;
  std::vector<std::int64_t> sizes{};
  std::vector<double> weights{};
  std::vector<std::string> labels{};
  std::vector<bool> flags{};
  std::vector<std::vector<int>> groups{};
  bool operator==(const ConstantAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"value", &ConstantAttrs::value, "what it gives"},
                                            Field{"flag", &ConstantAttrs::flag, ""},
                                            Field{"axis", &ConstantAttrs::axis, ""},
                                            Field{"seed", &ConstantAttrs::seed, ""},
                                            Field{"scale", &ConstantAttrs::scale, ""},
                                            Field{"label", &ConstantAttrs::label, ""},
                                            Field{"dtype", &ConstantAttrs::dtype, ""},
                                            Field{"size", &ConstantAttrs::size, ""},
                                            Field{"type", &ConstantAttrs::type, ""},
                                            Field{"mode", &ConstantAttrs::mode, ""},
                                            Field{"sizes", &ConstantAttrs::sizes, ""},
                                            Field{"weights", &ConstantAttrs::weights, ""},
                                            Field{"labels", &ConstantAttrs::labels, ""},
                                            Field{"flags", &ConstantAttrs::flags, ""},
                                            Field{"groups", &ConstantAttrs::groups, ""}};
};
inline const OpDef<ConstantAttrs> constant{
    .name = "toy.constant",
    .doc = "its value",
    .operands = {},
    .constraints = {},
    .infer = [](const ConstantAttrs& a, const Signature&) -> Types {
      return {tensor(a.value.dtype(), Shape(a.value.shape().begin(), a.value.shape().end()))};
    },
    .meaning =
        Primitive<ConstantAttrs>{[](const ConstantAttrs& a, const ReferenceCall&) -> HostValues { return {a.value}; }},
    .vjp = no_rule,
    .jvp = no_rule,
    .batch = no_rule,
    .shard = no_rule,
    .cost = no_rule,
    .samples = []() -> std::vector<Sample<ConstantAttrs>> { return {}; },
    .traits = Trait::constant};

// --- toy.while: regions, several results
// ------------------------------------------------------------------------------
struct WhileAttrs {
  std::int64_t trip_bound = -1;
  bool operator==(const WhileAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"trip_bound", &WhileAttrs::trip_bound, "-1: unknown"}};
};
inline constexpr Operand while_operands[] = {{.name = "state", .dtypes = storable, .variadic = true}};
inline constexpr Constraint<WhileAttrs> while_constraints[] = {
    {"C1", "the condition gives one bool[]",
     [](const WhileAttrs&, const Signature& s) -> Answer { return s.regions[0].results == Types{boolean({})}; }},
    {"C2", "the body gives the types of the state", [](const WhileAttrs&, const Signature& s) -> Answer {
       return std::equal(s.types.begin(), s.types.end(), s.regions[1].results.begin(), s.regions[1].results.end());
     }}};
inline const OpDef<WhileAttrs> while_op{
    .name = "toy.while",
    .doc = "repeats the body",
    .operands = while_operands,
    .constraints = while_constraints,
    .infer = [](const WhileAttrs&, const Signature& s) { return Types(s.types.begin(), s.types.end()); },
    .meaning = Primitive<WhileAttrs>{[](const WhileAttrs&, const ReferenceCall&) -> HostValues { return {}; }},
    .vjp = no_rule,
    .jvp = no_rule,
    .batch = no_rule,
    .shard = no_rule,
    .cost = no_rule,
    .samples = []() -> std::vector<Sample<WhileAttrs>> { return {}; },
    .region_arguments =
        [](const WhileAttrs&, const Signature& s) {
          return std::vector<Types>(2, Types(s.types.begin(), s.types.end()));
        }};

// --- toy.less: a bool from two scalars
// --------------------------------------------------------------------------------
inline const OpDef<NoAttributes> less{
    .name = "toy.less",
    .doc = "x < y",
    .operands = add_operands,
    .constraints = add_constraints,
    .infer = [](const NoAttributes&, const Signature& s) -> Types { return {boolean(s.shape(0))}; },
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall&) -> HostValues { return {}; }},
    .vjp = no_rule,
    .jvp = no_rule,
    .batch = no_rule,
    .shard = no_rule,
    .cost = no_rule,
    .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; },
    .traits = Trait::elementwise};

// --- toy.store: LIR, no results
// ---------------------------------------------------------------------------------------
inline constexpr Operand store_operands[] = {{"value", storable}, {"buffer", storable}};
inline const OpDef<NoAttributes> store{
    .name = "toy.store",
    .doc = "writes into a buffer",
    .operands = store_operands,
    .constraints = {},
    .infer = [](const NoAttributes&, const Signature&) -> Types { return {}; },
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall&) -> HostValues { return {}; }},
    .vjp = no_rule,
    .jvp = no_rule,
    .batch = no_rule,
    .shard = no_rule,
    .cost = no_rule,
    .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; },
    .traits = Trait::lir};

inline Registry registry() {
  Registry r;
  r.add(neg);
  r.add(add);
  r.add(join);
  r.add(twice);
  r.add(constant);
  r.add(while_op);
  r.add(less);
  r.add(store);
  return r;
}

}  // namespace rlx::toy
