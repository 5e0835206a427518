#include "compile/sizes/rules.hpp"

namespace rlx::compile {

namespace {

/// Positions stay apart, so padding stays behind the elements.
Values as_it_is(const SizedNode& n) { return n.emit(n.in); }

struct Row {
  std::string_view op;
  BoundRule rule;
};
constexpr Row rows[] = {{"arg_reduce", bound_arg_reduce},
                        {"associative_scan", bound_associative_scan},
                        {"barrier", as_it_is},
                        {"broadcast", as_it_is},
                        {"check_within", as_it_is},
                        {"concat", bound_concat},
                        {"conv", bound_conv},
                        {"dim_size", bound_dim_size},
                        {"dot_general", bound_dot_general},
                        {"dynamic_slice", bound_dynamic_slice},
                        {"dynamic_update_slice", bound_dynamic_update_slice},
                        {"fft", bound_fft},
                        {"gather", bound_gather},
                        {"iota", as_it_is},
                        {"pad", bound_pad},
                        {"ragged_dot", bound_ragged_dot},
                        {"reduce", bound_reduce},
                        {"reduce_window", bound_reduce_window},
                        {"reshape", bound_reshape},
                        {"reverse", bound_reverse},
                        {"rng_bits", bound_random},
                        {"rng_normal", bound_random},
                        {"rng_uniform", bound_random},
                        {"scatter", bound_scatter},
                        {"segment_reduce", bound_segment_reduce},
                        {"slice", bound_slice},
                        {"sort", bound_sort},
                        {"top_k", bound_top_k},
                        {"transpose", as_it_is}};

}  // namespace

BoundRule bound_rule(const Op& op) {
  if (op.has_trait(Trait::elementwise)) return as_it_is;
  for (const Row& r : rows)
    if (r.op == op.name()) return r.rule;
  return nullptr;
}

}  // namespace rlx::compile
