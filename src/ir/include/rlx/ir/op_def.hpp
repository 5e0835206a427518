// What an operator is: one OpDef constant in one file. Every slot is answered, if only by Never{"why"}.
#pragma once
#include <rlx/ir/attributes.hpp>
#include <rlx/ir/builder.hpp>
#include <rlx/ir/host_value.hpp>
#include <rlx/ir/sample.hpp>
#include <rlx/ir/signature.hpp>

#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace rlx {

/// A slot without default: leaving it out does not compile.
template <class T>
struct Required {
  template <class U>
    requires std::convertible_to<U, T>
  constexpr Required(U u) : value(u) {}
  T value;
};
struct Derived {};  ///< Follow the decomposition.
struct Never {
  std::string_view why;
};  ///< Asking is an error that quotes `why`.
template <class Fn>
using Rule = Required<std::variant<Fn, Derived, Never>>;

/// `any` takes whatever kind comes (calls of LIR).
enum class OperandKind : std::uint8_t { tensor, sparse, resource, token, any };

/// One declared operand. A variadic one must be the last and stands for zero or more.
struct Operand {
  std::string_view name;
  DTypeSet dtypes;
  OperandKind kind = OperandKind::tensor;
  bool variadic = false;
  std::string_view resource_kind{};
  bool quantized = false;  ///< Takes quantized tensors too, of which `dtypes` are what is stored.
};

/// One numbered requirement. `id` appears in the error, in the manual and in the sample that must break it.
template <class A>
struct Constraint {
  std::string_view id, text;
  Answer (*holds)(const A&, const Signature&);
};

// --- Meaning: exactly one of three.
/// An operator of MIR; `reference` computes it on the host, slowly and obviously.
template <class A>
struct Primitive {
  HostValues (*reference)(const A&, const ReferenceCall&);
};
/// The decomposition is the meaning, and the body of the common-IR path.
template <class A>
struct Composite {
  Values (*decompose)(Builder&, const A&, ValuesIn);
};
/// No decomposition and no primitive form: a library's sparse factorization. Its reference may be slow and small.
template <class A>
struct Extern {
  HostValues (*reference)(const A&, const ReferenceCall&);
};

// --- What the rules are called with.
template <class A>
struct VjpCall {
  Builder& b;
  const A& attrs;
  ValuesIn in, out;
  ValuesIn residuals;               ///< What the rule's `save` returned.
  ValuesIn cotangent;               ///< One a result; an absent Value is a symbolic zero.
  const std::vector<bool>& wanted;  ///< One an operand; what is not wanted is not formed.
  const Graph& graph;               ///< Holds `node`, for its regions.
  const Node& node;
};
/// `pull` returns one Value an operand, absent where the cotangent is zero or unwanted. `save`, where given, emits the
/// statistics that only differentiation needs.
template <class A>
struct Vjp {
  Values (*pull)(const VjpCall<A>&);
  Values (*save)(Builder&, const A&, ValuesIn in, ValuesIn out) = nullptr;
};

template <class A>
struct JvpCall {
  Builder& b;
  const A& attrs;
  ValuesIn in, out;
  ValuesIn tangent;  ///< One an operand; an absent Value is a symbolic zero.
  const Graph& graph;
  const Node& node;
};
/// One Value a result, absent where the tangent is zero.
template <class A>
using Jvp = Values (*)(const JvpCall<A>&);

template <class A>
struct BatchCall {
  Builder& b;
  const A& attrs;
  ValuesIn in;
  std::span<const int> axes;  ///< Where the new dimension is in each operand; -1: not batched.
  Dim size;
  const Graph& graph;
  const Node& node;
};
struct Batched {
  Values out;
  std::vector<int> axes;
};
template <class A>
using Batch = Batched (*)(const BatchCall<A>&);

/// Sharding as a factor map. Each factor is one way to cut the iteration space; every dimension of operands and results
/// is tied to one (-1: replicated). A reduced one is in no result: parts are added, or combined by the node's region.
struct ShardRule {
  enum class Kind : std::uint8_t { passed, reduced, halo, whole };
  struct Factor {
    Kind kind = Kind::passed;
    int halo = 0;
  };
  std::vector<Factor> factors{};
  std::vector<std::vector<int>> operands{}, results{};
};
template <class A>
using Shard = ShardRule (*)(const A&, const Signature&);

/// Floating-point (or integer) operations and bytes of memory that must move at least.
struct Cost {
  Dim flops, bytes;
};
template <class A>
using CostRule = Cost (*)(const A&, const Signature&);

/// How an operator introduces a size: a dimension of its results that is known only when it has run. `size` is the
/// attribute that says the dimension: a number, or a symbol by itself, which the node then introduces. A number is a
/// capacity: results are padded up to it, and a count above it is a NumericalError.
template <class A>
struct SizeRule {
  Dim A::* size = nullptr;  ///< Null: the operator introduces none.
  /// The size as a scalar i64, from primitives.
  Value (*count)(Builder&, const A&, ValuesIn) = nullptr;
  /// An upper bound of it, which may depend on symbols of the operands; -1: none is known.
  Dim (*bound)(const A&, const Signature&) = nullptr;
};

enum class Trait : std::uint8_t {
  none = 0,
  elementwise = 1,  ///< Same-shaped tensors in and out, one scalar function an element; legal on scalars in LIR.
  indexing = 2,     ///< Each result element is one operand element (or a constant) chosen by position.
  lir = 4,          ///< Legal only in LIR.
  constant = 8,     ///< No operands, the value is in the attributes.
  /// A composite that reads nothing of its operands beyond sizes that other results introduce (its other operands say
  /// how far they reach), and whose results have no such size: buffers of capacity serve it as they are.
  padded = 16,
};
constexpr Trait operator|(Trait a, Trait b) { return static_cast<Trait>(static_cast<int>(a) | static_cast<int>(b)); }
constexpr bool has(Trait set, Trait t) { return (static_cast<int>(set) & static_cast<int>(t)) != 0; }

template <Attributes A>
struct OpDef {
  using AttributesType = A;
  Required<std::string_view> name;  ///< Key in the text form: "exp", "linalg.lu".
  Required<std::string_view> doc;   ///< First line of its manual entry.
  std::span<const Operand> operands;
  std::span<const Constraint<A>> constraints;  ///< Checked in order, before `infer`.
  Required<Types (*)(const A&, const Signature&)> infer;
  Required<std::variant<Primitive<A>, Composite<A>, Extern<A>>> meaning;
  Rule<Vjp<A>> vjp;
  Rule<Jvp<A>> jvp;
  Rule<Batch<A>> batch;
  Rule<Shard<A>> shard;
  Rule<CostRule<A>> cost;
  Required<std::vector<Sample<A>> (*)()> samples;
  /// Argument types of each region; null for operators without regions.
  std::vector<Types> (*region_arguments)(const A&, const Signature&) = nullptr;
  Trait traits = Trait::none;
  SizeRule<A> size{};
};

}  // namespace rlx
