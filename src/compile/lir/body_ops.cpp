// What kernel bodies hold besides the elementwise primitives: memory access, loops, reductions, branches, teams.
#include "compile/lir/lir_def.hpp"
#include "compile/lir/lir_ops.hpp"

namespace rlx::lir {
namespace {

constexpr Operand load_operands[] = {{"buffer", storable}, {"index", DTypeSet{DType::i64}}};
constexpr Operand store_operands[] = {{"buffer", storable}, {"index", DTypeSet{DType::i64}}, {"value", storable}};
constexpr Operand loop_operands[] = {
    {"lower", DTypeSet{DType::i64}}, {"upper", DTypeSet{DType::i64}}, {"carried", storable, OperandKind::tensor, true}};
constexpr Operand predicate_operand[] = {{"predicate", DTypeSet{DType::boolean}}};
constexpr Operand check_operands[] = {{"condition", DTypeSet{DType::boolean}}, {"index", DTypeSet{DType::i64}}};

TensorType element_of(const TensorType& buffer) { return {buffer.dtype}; }

constexpr Constraint<NoAttributes> load_constraints[] = {
    {"C1", "a buffer and a scalar index",
     [](const NoAttributes&, const Signature& s) -> Answer { return is_buffer(s.types[0]) && is_scalar(s.types[1]); }}};

constexpr Constraint<NoAttributes> store_constraints[] = {
    {"C1", "a buffer, a scalar index and a scalar of the buffer's dtype",
     [](const NoAttributes&, const Signature& s) -> Answer {
       return is_buffer(s.types[0]) && is_scalar(s.types[1]) && is_scalar(s.types[2], s.dtype(0));
     }}};

Types carried_of(const Signature& s) { return {s.types.begin() + 2, s.types.end()}; }

bool scalars(const Signature& s) {
  for (const Type& t : s.types)
    if (!is_scalar(t)) return false;
  return true;
}

constexpr Constraint<ForAttrs> for_constraints[] = {
    {"C1", "bounds and carried values are scalars",
     [](const ForAttrs&, const Signature& s) -> Answer { return scalars(s); }},
    {"C2", "one region that returns the carried types",
     [](const ForAttrs&, const Signature& s) -> Answer {
       return s.regions.size() == 1 && s.regions[0].results == carried_of(s);
     }},
    {"C3", "step > 0", [](const ForAttrs& a, const Signature&) -> Answer { return a.step > 0; }},
    {"C4", "independent trips carry nothing",
     [](const ForAttrs& a, const Signature& s) -> Answer { return !a.independent || s.size() == 2; }}};

constexpr Constraint<NoAttributes> reduce_constraints[] = {
    {"C1", "bounds and identities are scalars",
     [](const NoAttributes&, const Signature& s) -> Answer { return scalars(s); }},
    {"C2", "a term region and a combine region that return the types of the identities",
     [](const NoAttributes&, const Signature& s) -> Answer {
       return s.regions.size() == 2 && s.regions[0].results == carried_of(s) && s.regions[1].results == carried_of(s);
     }}};

constexpr Constraint<NoAttributes> if_constraints[] = {
    {"C1", "a scalar predicate and two regions of equal result types",
     [](const NoAttributes&, const Signature& s) -> Answer {
       return is_scalar(s.types[0]) && s.regions.size() == 2 && s.regions[0].results == s.regions[1].results;
     }}};

constexpr Constraint<LocalAttrs> local_constraints[] = {
    {"C1", "the type is a buffer in local space", [](const LocalAttrs& a, const Signature&) -> Answer {
       const auto* t = std::get_if<TensorType>(&a.type);
       return t && t->space == Space::local && is_constant(a.type);
     }}};

constexpr Constraint<SizeAttrs> size_constraints[] = {
    {"C1", "value >= 0", [](const SizeAttrs& a, const Signature&) -> Answer { return a.value >= 0; }}};

constexpr Constraint<CheckAttrs> check_constraints[] = {
    {"C1", "kind is not empty", [](const CheckAttrs& a, const Signature&) -> Answer { return !a.kind.empty(); }}};

constexpr OpDef<NoAttributes> load =
    lir_def<NoAttributes>("lir.load", "Element `index` of a buffer.",
                          {load_operands, load_constraints,
                           [](const NoAttributes&, const Signature& s) { return Types{element_of(s.tensor(0))}; }});

constexpr OpDef<NoAttributes> store = lir_def<NoAttributes>(
    "lir.store", "Writes element `index` of a buffer.",
    {store_operands, store_constraints, [](const NoAttributes&, const Signature&) { return Types{}; }});

constexpr OpDef<ForAttrs> for_ = lir_def<ForAttrs>(
    "lir.for", "A counted loop in a kernel body.",
    {loop_operands, for_constraints, [](const ForAttrs&, const Signature& s) { return carried_of(s); },
     [](const ForAttrs&, const Signature& s) {
       Types args = carried_of(s);
       args.insert(args.begin(), index_type());
       return std::vector<Types>{args};
     }});

constexpr OpDef<NoAttributes> reduce = lir_def<NoAttributes>(
    "lir.reduce", "Combines the terms of a range, in an order that does not depend on the number of threads.",
    {loop_operands, reduce_constraints, [](const NoAttributes&, const Signature& s) { return carried_of(s); },
     [](const NoAttributes&, const Signature& s) {
       Types pair = carried_of(s);
       const Types once = pair;
       pair.insert(pair.end(), once.begin(), once.end());
       return std::vector<Types>{{index_type()}, pair};
     }});

constexpr OpDef<NoAttributes> if_then = lir_def<NoAttributes>(
    "lir.if_then", "Runs one of two regions; gives its results.",
    {predicate_operand, if_constraints,
     [](const NoAttributes&, const Signature& s) { return s.regions.empty() ? Types{} : s.regions[0].results; },
     [](const NoAttributes&, const Signature&) { return std::vector<Types>{{}, {}}; }});

constexpr OpDef<LocalAttrs> local =
    lir_def<LocalAttrs>("lir.local", "Memory shared by the threads of one team.",
                        {{}, local_constraints, [](const LocalAttrs& a, const Signature&) { return Types{a.type}; }});

constexpr OpDef<SizeAttrs> size =
    lir_def<SizeAttrs>("lir.size", "A number that is handed over at each launch and is no part of the code.",
                       {{}, size_constraints, [](const SizeAttrs&, const Signature&) { return Types{index_type()}; }});

constexpr OpDef<NoAttributes> barrier = lir_def<NoAttributes>(
    "lir.barrier", "The threads of a team meet; their local memory is then visible to all of them.",
    {{}, {}, [](const NoAttributes&, const Signature&) { return Types{}; }});

constexpr OpDef<CheckAttrs> check = lir_def<CheckAttrs>(
    "lir.check", "In checked mode, records the first index whose condition is false.",
    {check_operands, check_constraints, [](const CheckAttrs&, const Signature&) { return Types{}; }});

}  // namespace

void register_body_ops(Registry& r) {
  r.add(load);
  r.add(store);
  r.add(for_);
  r.add(reduce);
  r.add(if_then);
  r.add(size);
  r.add(local);
  r.add(barrier);
  r.add(check);
}

void register_ops(Registry& registry) {
  register_step_ops(registry);
  register_body_ops(registry);
}

}  // namespace rlx::lir
