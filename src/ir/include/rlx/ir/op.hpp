// An operator with its attribute type erased: what graphs, passes and backends hold.
#pragma once
#include <rlx/ir/op_def.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace rlx {

enum class Meaning : std::uint8_t { primitive, composite, extern_ };
enum class RuleKind : std::uint8_t { given, derived, never };

struct ConstraintDoc {
  std::string_view id, text;
};

/// A sample with erased attributes.
struct AnySample : SampleBase {
  AnyAttrs attrs;
};

class RLX_API Op {
 public:
  virtual ~Op();
  std::string_view name() const { return name_; }
  std::string_view doc() const { return doc_; }
  std::span<const Operand> operands() const { return operands_; }
  Trait traits() const { return traits_; }
  bool has_trait(Trait t) const { return has(traits_, t); }
  Meaning meaning() const { return meaning_; }
  bool is_primitive() const { return meaning_ == Meaning::primitive; }

  /// Checks arity, operand kinds, dtypes and constraints; `needs` carries the predicates a program must guard.
  /// Throws VerifyError with constraint "arity", "kind", "dtype" or the constraint's id.
  Answer check(const AnyAttrs& attrs, const Signature& s) const;

  virtual AnyAttrs default_attrs() const = 0;
  virtual std::vector<ConstraintDoc> constraints() const = 0;
  virtual Types infer(const AnyAttrs&, const Signature&) const = 0;
  virtual std::vector<Types> region_arguments(const AnyAttrs&, const Signature&) const = 0;
  // What is refused of that which the decomposition and the rules emit is told as this operator's: the VerifyError
  // names it, its constraint is "in its decomposition" ("count", "vjp", "jvp", "batch"), and what was said inside
  // follows.

  /// Throws InternalError unless the meaning is composite.
  Values decompose(Builder&, const AnyAttrs&, ValuesIn) const;
  /// Throws InternalError for a composite: evaluate its decomposition instead.
  virtual HostValues reference(const AnyAttrs&, const ReferenceCall&) const = 0;

  /// The symbol that an instance introduces, its size; empty where the attributes give a number, and for operators
  /// without a SizeRule.
  virtual std::string introduces(const AnyAttrs&) const = 0;
  // The parts of its SizeRule; each throws InternalError where there is none.
  Value count(Builder&, const AnyAttrs&, ValuesIn) const;
  virtual Dim count_bound(const AnyAttrs&, const Signature&) const = 0;

  struct RuleInfo {
    RuleKind kind;
    std::string_view why;
  };
  RuleInfo vjp_rule() const { return vjp_; }
  RuleInfo jvp_rule() const { return jvp_; }
  RuleInfo batch_rule() const { return batch_; }
  RuleInfo shard_rule() const { return shard_; }
  RuleInfo cost_rule() const { return cost_; }

  // The rules; each throws InternalError unless its kind is `given`.
  Values vjp_save(Builder&, const AnyAttrs&, ValuesIn in, ValuesIn out) const;
  Values vjp(const VjpCall<AnyAttrs>&) const;
  Values jvp(const JvpCall<AnyAttrs>&) const;
  Batched batch(const BatchCall<AnyAttrs>&) const;
  virtual ShardRule shard(const AnyAttrs&, const Signature&) const = 0;
  virtual Cost cost(const AnyAttrs&, const Signature&) const = 0;
  virtual std::vector<AnySample> samples() const = 0;

 protected:
  virtual Answer constraint_holds(std::size_t i, const AnyAttrs&, const Signature&) const = 0;
  // What the functions without "emit" call.
  virtual Values emit_decomposition(Builder&, const AnyAttrs&, ValuesIn) const = 0;
  virtual Value emit_count(Builder&, const AnyAttrs&, ValuesIn) const = 0;
  virtual Values emit_vjp_save(Builder&, const AnyAttrs&, ValuesIn in, ValuesIn out) const = 0;
  virtual Values emit_vjp(const VjpCall<AnyAttrs>&) const = 0;
  virtual Values emit_jvp(const JvpCall<AnyAttrs>&) const = 0;
  virtual Batched emit_batch(const BatchCall<AnyAttrs>&) const = 0;
  std::string_view name_, doc_;
  std::span<const Operand> operands_;
  Trait traits_ = Trait::none;
  Meaning meaning_ = Meaning::primitive;
  RuleInfo vjp_{}, jvp_{}, batch_{}, shard_{}, cost_{};
};

/// Wraps a definition, which must outlive the operator (definitions are constants).
template <Attributes A>
std::unique_ptr<Op> erase(const OpDef<A>& def);

}  // namespace rlx

#include <rlx/ir/detail/typed_op.hpp>
