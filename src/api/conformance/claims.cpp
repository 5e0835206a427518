#include "api/conformance/claims.hpp"

#include "api/conformance/retype.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace rlx::conformance {

namespace {

/// How many element types it claims. That of a communicator says nothing.
int claimed_by(const Operand& o) {
  int n = 0;
  for (int i = 0; i < dtype_count; ++i) n += o.dtypes.contains(static_cast<DType>(i));
  return o.resource_kind == "communicator" ? 0 : n;
}

std::int64_t elements_of(const SampleBase& s) {
  std::int64_t n = 0;
  for (const SampleOperand& o : s.in)
    if (const auto* t = std::get_if<TensorType>(&o.type)) n += t->numel().constant();
    else if (const auto* a = std::get_if<SparseType>(&o.type)) n += a->entries.constant();
  return n;
}

char class_of(DType t) { return is_floating(t) ? 'f' : is_complex(t) ? 'c' : 'i'; }

/// Whether some operand at the declared position has elements of `t`.
bool has_type_at(const Op& op, const SampleBase& s, std::size_t position, DType t) {
  for (std::size_t k = position; k < s.in.size(); ++k)
    if (&declared_operand(op, k) == &op.operands()[position] && element_type(s.in[k].type) == t) return true;
  return false;
}

class Claims {
 public:
  Claims(const Op& op, std::size_t next, Forms wanted, std::vector<Instance>& instances, Collector& out)
      : op_(op), next_(next), wanted_(wanted), instances_(instances), given_(instances.size()), out_(out) {
    for (std::size_t k = 0; k < instances.size(); ++k)
      forms_[form_of(instances[k].graph, instances[k].sample, out.options().full)].push_back(k);
  }

  void prove(std::size_t position, DType t) {
    const auto has = [&](const auto& form) {
      return std::any_of(form.second.begin(), form.second.end(), [&](std::size_t k) {
        // Of several operands, such as keys and what they order, the first tells instances apart.
        return position == determining_operand(op_) ? instances_[k].dtype == name(t)
                                                    : has_type_at(op_, instances_[k].sample, position, t);
      });
    };
    bool proved = std::any_of(forms_.begin(), forms_.end(), has);
    for (auto& form : forms_) {
      if (has(form) || (proved && wanted_ == Forms::one)) continue;
      if (!derive(form.second, position, t)) continue;
      form.second.push_back(instances_.size() - 1);
      proved = true;
    }
    if (!proved) fail(position, t);
  }

 private:
  // Of bases, those that are close to what is wanted come first: of random operands, of the same kind of numbers, small
  // but no single numbers.
  bool derive(std::vector<std::size_t> bases, std::size_t position, DType t) {
    std::erase_if(bases, [&](std::size_t k) { return k >= given_ || instances_[k].sample.in.size() <= position; });
    const auto rank = [&](std::size_t k) {
      const AnySample& s = instances_[k].sample;
      const std::int64_t n = elements_of(s);
      return std::tuple(!s.in[position].literal.empty(), class_of(*element_type(s.in[position].type)) != class_of(t),
                        n < 4, n, k);
    };
    std::sort(bases.begin(), bases.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    for (std::size_t k : bases)
      for (std::size_t at = position; at < instances_[k].sample.in.size(); ++at) {
        if (&declared_operand(op_, at) != &op_.operands()[position]) break;
        for (AnySample& s : retyped(op_, instances_[k].sample, at, t, out_.registry()))
          if (auto made = accepted(k, position, t, std::move(s))) {
            ++next_;
            instances_.push_back(std::move(*made));
            return true;
          }
      }
    return false;
  }

  std::optional<Instance> accepted(std::size_t base, std::size_t position, DType t, AnySample s) const {
    std::string tail = "like" + std::to_string(instances_[base].index);
    if (position != *determining_operand(op_))
      (tail += '.') += std::string(op_.operands()[position].name) + "." + std::string(name(t));
    try {
      Instance made = instance_of(op_, next_, std::move(s), out_.registry(), std::move(tail));
      if (position == *determining_operand(op_)) made.dtype = name(t);  // Of several, any.
      return made;
    } catch (const Error&) { return std::nullopt; }  // Refused, or no such fill: another way may do.
  }

  void fail(std::size_t position, DType t) {
    const Operand& o = op_.operands()[position];
    std::string why = "operand \"" + std::string(o.name) + "\" of " + std::string(op_.name()) + " claims " +
                      std::string(name(t)) + ", of which there is no sample, and none can be made of another type's";
    out_.add({op_, "claim", out_.device(), std::string(name(t)), std::string(o.name)}, Outcome::failed, std::move(why));
  }

  const Op& op_;
  std::size_t next_;
  Forms wanted_;
  std::vector<Instance>& instances_;
  std::size_t given_;
  Collector& out_;
  std::map<std::string, std::vector<std::size_t>> forms_;
};

bool only_given(const Op& op) {
  return std::any_of(op.operands().begin(), op.operands().end(),
                     [](const Operand& o) { return o.kind == OperandKind::resource || o.kind == OperandKind::token; });
}

}  // namespace

std::optional<std::size_t> determining_operand(const Op& op) {
  const auto all = op.operands();
  const auto most = std::max_element(all.begin(), all.end(),
                                     [](const Operand& a, const Operand& b) { return claimed_by(a) < claimed_by(b); });
  if (most == all.end() || claimed_by(*most) == 0) return std::nullopt;
  return static_cast<std::size_t>(most - all.begin());
}

void add_claimed(const Op& op, std::size_t next, DTypeSet storage, Forms forms, std::vector<Instance>& instances,
                 Collector& out) {
  if (instances.empty() && only_given(op))
    return out.skip("claim: no sample of " + std::string(op.name()) + " has values");
  Claims claims(op, next, forms, instances, out);
  const auto prove_all = [&](std::size_t position) {
    for (int i = 0; i < dtype_count; ++i)
      if (const auto t = static_cast<DType>(i); (op.operands()[position].dtypes & storage).contains(t))
        claims.prove(position, t);
  };
  const auto determining = determining_operand(op);
  if (determining) prove_all(*determining);
  for (std::size_t position = 0; position < op.operands().size(); ++position)
    if (position != determining && claimed_by(op.operands()[position]) > 0) prove_all(position);
}

}  // namespace rlx::conformance
