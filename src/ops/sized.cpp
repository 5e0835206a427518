#include "ops/sized.hpp"

#include <rlx/ir/sizes.hpp>

namespace rlx::ops {

std::int64_t capacity(std::string_view op, const SizedAttrs& a) {
  if (!a.size.is_constant())
    refuse_rule(op, "size",
                "size " + a.size.to_string() +
                    " is known only when the node runs, and would differ from member to member of a batch: give a "
                    "number, up to which the result is padded");
  return a.size.constant();
}

Value within_capacity(Value count, std::string_view op, std::int64_t capacity) {
  return check_within(count, constant(*count.builder, HostTensor::scalar_i64(DType::i64, capacity)),
                      {size_text(op, {}, {0, capacity}), std::string(op)});
}

}  // namespace rlx::ops
