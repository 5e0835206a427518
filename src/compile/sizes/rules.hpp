// What each primitive does about padding (sized_node.hpp).
#pragma once
#include "compile/sizes/sized_node.hpp"

#include <rlx/ir/op.hpp>

namespace rlx::compile {

/// Emits the node; may throw SizeRefusal.
using BoundRule = Values (*)(const SizedNode&);
/// Null where the operator is not known to leave padding alone.
BoundRule bound_rule(const Op& op);

// shape.cpp
Values bound_reshape(const SizedNode& n);
Values bound_slice(const SizedNode& n);
Values bound_pad(const SizedNode& n);
Values bound_concat(const SizedNode& n);
Values bound_reverse(const SizedNode& n);
Values bound_dynamic_slice(const SizedNode& n);
Values bound_dynamic_update_slice(const SizedNode& n);
Values bound_dim_size(const SizedNode& n);
Values bound_random(const SizedNode& n);
// indexing.cpp
Values bound_gather(const SizedNode& n);
Values bound_scatter(const SizedNode& n);
Values bound_segment_reduce(const SizedNode& n);
Values bound_sort(const SizedNode& n);
Values bound_top_k(const SizedNode& n);
// reduction.cpp
Values bound_reduce(const SizedNode& n);
Values bound_associative_scan(const SizedNode& n);
Values bound_arg_reduce(const SizedNode& n);
Values bound_reduce_window(const SizedNode& n);
Values bound_dot_general(const SizedNode& n);
Values bound_ragged_dot(const SizedNode& n);
Values bound_conv(const SizedNode& n);
Values bound_fft(const SizedNode& n);

}  // namespace rlx::compile
