// The steps of a LIR program: buffers, views, kernels, calls, copies, device loops and branches, queues.
#include "compile/lir/lir_ops.hpp"

#include "compile/lir/lir_def.hpp"

namespace rlx::lir {

namespace {

constexpr Operand any_buffers[] = {{"buffers", storable, OperandKind::tensor, true}};
constexpr Operand one_buffer[] = {{"buffer", storable}};
constexpr Operand copy_operands[] = {{"from", storable}, {"to", storable}};
constexpr Operand predicate_buffer[] = {{"predicate", DTypeSet{DType::boolean}}};

bool all_buffers(const Signature& s) {
  for (const Type& t : s.types)
    if (!is_buffer(t)) return false;
  return true;
}
template <class A>
Answer buffers_only(const A&, const Signature& s) {
  return all_buffers(s);
}

const TensorType& as_tensor(const Type& t) { return std::get<TensorType>(t); }

constexpr Constraint<KernelAttrs> kernel_constraints[] = {
    {"C1", "every operand is a buffer", buffers_only<KernelAttrs>},
    {"C2", "0 < writes <= number of buffers",
     [](const KernelAttrs& a, const Signature& s) -> Answer {
       return a.writes > 0 && a.writes <= static_cast<int>(s.size());
     }},
    {"C3", "team has as many dimensions as extents under the team policy and none otherwise",
     [](const KernelAttrs& a, const Signature&) -> Answer {
       return a.team.size() == (a.policy == Policy::team ? a.extents.size() : 0);
     }},
    {"C4", "extents and team are not negative, and a range has one extent",
     [](const KernelAttrs& a, const Signature&) -> Answer {
       for (std::int64_t e : a.extents)
         if (e < 0) return false;
       for (std::int64_t t : a.team)
         if (t < 1) return false;
       return a.policy != Policy::range || a.extents.size() == 1;
     }},
    {"C5", "one region without results", [](const KernelAttrs&, const Signature& s) -> Answer {
       return s.regions.size() == 1 && s.regions[0].results.empty();
     }}};

constexpr Constraint<BufferAttrs> buffer_constraints[] = {
    {"C1", "the type is a buffer of constant shape",
     [](const BufferAttrs& a, const Signature&) -> Answer { return is_buffer(a.type) && is_constant(a.type); }},
    {"C2", "a constant has a value of its type", [](const BufferAttrs& a, const Signature&) -> Answer {
       if (a.lifetime != Lifetime::constant) return true;
       const TensorType& t = as_tensor(a.type);
       return a.value.dtype() == t.dtype && a.value.shape() == constant_shape(t.shape);
     }}};

constexpr Constraint<ViewAttrs> view_constraints[] = {
    {"C1", "operand and type are buffers of one space",
     [](const ViewAttrs& a, const Signature& s) -> Answer {
       return is_buffer(s.types[0]) && is_buffer(a.type) && as_tensor(a.type).space == s.tensor(0).space;
     }},
    {"C2", "the view lies inside the buffer", [](const ViewAttrs& a, const Signature& s) -> Answer {
       const TensorType& v = as_tensor(a.type);
       const TensorType& b = s.tensor(0);
       return a.offset >= 0 && byte_size(b.dtype, a.offset) + byte_size(v.dtype, v.numel().constant()) <=
                                   byte_size(b.dtype, b.numel().constant());
     }}};

constexpr Constraint<NoAttributes> copy_constraints[] = {{"C1", "both are buffers of the same dtype and element count",
                                                          [](const NoAttributes&, const Signature& s) -> Answer {
                                                            return all_buffers(s) && s.dtype(0) == s.dtype(1) &&
                                                                   s.tensor(0).numel() == s.tensor(1).numel();
                                                          }}};

constexpr Constraint<CallAttrs> call_constraints[] = {
    {"C1", "0 <= operands <= number of values", [](const CallAttrs& a, const Signature& s) -> Answer {
       return a.operands >= 0 && a.operands <= static_cast<int>(s.size());
     }}};

constexpr Constraint<LoopAttrs> while_constraints[] = {
    {"C1", "two regions; the condition gives one bool[] buffer, or nothing where the trips are known, the body nothing",
     [](const LoopAttrs& a, const Signature& s) -> Answer {
       if (s.regions.size() != 2 || !s.regions[1].results.empty()) return false;
       const Types& answer = s.regions[0].results;
       if (a.trips >= 0) return answer.empty();
       return answer.size() == 1 && is_buffer(answer[0]) && as_tensor(answer[0]).dtype == DType::boolean;
     }}};

constexpr Constraint<NoAttributes> if_steps_constraints[] = {
    {"C1", "the predicate is a bool[] buffer; two regions without results",
     [](const NoAttributes&, const Signature& s) -> Answer {
       return is_buffer(s.types[0]) && s.tensor(0).is_scalar() && s.regions.size() == 2 &&
              s.regions[0].results.empty() && s.regions[1].results.empty();
     }}};

constexpr Operand started[] = {{"started", {}, OperandKind::token}};
constexpr Constraint<StartAttrs> start_constraints[] = {
    {"C1", "queue >= 1", [](const StartAttrs& a, const Signature&) -> Answer { return a.queue >= 1; }},
    {"C2", "one region without results", [](const StartAttrs&, const Signature& s) -> Answer {
       return s.regions.size() == 1 && s.regions[0].results.empty();
     }}};

constexpr OpDef<KernelAttrs> kernel =
    lir_def<KernelAttrs>("lir.kernel", "Runs its body at every point of an index space.",
                         {any_buffers, kernel_constraints, [](const KernelAttrs&, const Signature&) { return Types{}; },
                          [](const KernelAttrs& a, const Signature& s) {
                            Types args(a.extents.size() + a.team.size(), index_type());
                            args.insert(args.end(), s.types.begin(), s.types.end());
                            return std::vector<Types>{args};
                          }});

constexpr OpDef<BufferAttrs> buffer = lir_def<BufferAttrs>(
    "lir.buffer", "Memory of the program: a transient in the arena or a constant.",
    {{}, buffer_constraints, [](const BufferAttrs& a, const Signature&) { return Types{a.type}; }});

constexpr OpDef<ViewAttrs> view = lir_def<ViewAttrs>(
    "lir.view", "The same memory under another type.",
    {one_buffer, view_constraints, [](const ViewAttrs& a, const Signature&) { return Types{a.type}; }});

constexpr OpDef<NoAttributes> copy = lir_def<NoAttributes>(
    "lir.copy", "Copies one buffer into another.",
    {copy_operands, copy_constraints, [](const NoAttributes&, const Signature&) { return Types{}; }});

// Operands of a call may be resources besides buffers, so it takes any kind: see Op::check and OperandKind::any.
constexpr Operand call_operands[] = {{"values", storable, OperandKind::any, true}};
constexpr OpDef<CallAttrs> call = lir_def<CallAttrs>(
    "lir.call", "Launches a kernel record on buffers; gives its resources.",
    {call_operands, call_constraints, [](const CallAttrs& a, const Signature&) { return a.resources; }});

constexpr OpDef<LoopAttrs> while_ = lir_def<LoopAttrs>(
    "lir.while", "Runs the body's steps as long as the condition's buffer is true after its steps, or so many times.",
    {{},
     while_constraints,
     [](const LoopAttrs&, const Signature&) { return Types{}; },
     [](const LoopAttrs&, const Signature&) { return std::vector<Types>{{}, {}}; }});

constexpr OpDef<NoAttributes> if_ = lir_def<NoAttributes>(
    "lir.if", "Runs the steps of one of two regions.",
    {predicate_buffer, if_steps_constraints, [](const NoAttributes&, const Signature&) { return Types{}; },
     [](const NoAttributes&, const Signature&) { return std::vector<Types>{{}, {}}; }});

constexpr OpDef<StartAttrs> start =
    lir_def<StartAttrs>("lir.start", "Starts its steps on a queue beside those that follow.",
                        {{},
                         start_constraints,
                         [](const StartAttrs&, const Signature&) { return Types{TokenType{}}; },
                         [](const StartAttrs&, const Signature&) { return std::vector<Types>{{}}; }});

constexpr OpDef<NoAttributes> done =
    lir_def<NoAttributes>("lir.done", "Waits until the steps that a start has started are done.",
                          {started, {}, [](const NoAttributes&, const Signature&) { return Types{}; }});

}  // namespace

void register_step_ops(Registry& r) {
  r.add(kernel);
  r.add(buffer);
  r.add(view);
  r.add(copy);
  r.add(call);
  r.add(while_);
  r.add(if_);
  r.add(start);
  r.add(done);
}

}  // namespace rlx::lir
