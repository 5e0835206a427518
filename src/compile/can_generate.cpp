// Whether the compiler's own kernels cover a primitive on a target.
#include "compile/dispatch.hpp"
#include "compile/lower/elements.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ir/op.hpp>

namespace rlx::compile {

static Answer storable_on(const Target& t, const Type& type) {
  DType d{};
  if (const auto* x = std::get_if<TensorType>(&type)) d = x->dtype;
  else if (const auto* s = std::get_if<SparseType>(&type)) d = s->dtype;
  else return true;
  if (!t.storage.contains(d)) return Answer::no("dtype " + std::string(name(d)) + " cannot be stored on " + t.device);
  if (!t.compute.contains(d))
    return Answer::no("dtype " + std::string(name(d)) + " cannot be computed with on " + t.device);
  return true;
}

Answer can_generate(const Instance& i) {
  if (!i.target->generates_code) return Answer::no(i.target->device + " generates no code");
  if (!element_rule(*i.op) && !root_lowering(*i.op))
    return Answer::no("no generated lowering for " + std::string(i.op->name()));
  if (i.op->name() == "dot_general" && !is_dot_product(i).is_no())
    return Answer::no("a dot product is generated as a reduction");
  if (!i.signature.regions.empty())
    for (const Type& t : i.results)
      if (!std::holds_alternative<TensorType>(t) && !std::holds_alternative<SparseType>(t))
        return Answer::no("a resource cannot be state of a loop or the result of a branch");
  for (const Type& t : i.signature.types)
    if (Answer a = storable_on(*i.target, t); a.is_no()) return a;
  for (const Type& t : i.results)
    if (Answer a = storable_on(*i.target, t); a.is_no()) return a;
  for (const RegionType& r : i.signature.regions)  // Partial results may have types of their own.
    for (const Type& t : r.arguments)
      if (Answer a = storable_on(*i.target, t); a.is_no()) return a;
  return i.target->expresses ? i.target->expresses(i) : Answer(true);
}

}  // namespace rlx::compile
