#include "computes_in.hpp"

#include "compile/widening.hpp"

#include <algorithm>

namespace rlx::oneapi {

// As the tables of src/compile/emit_source and opencl_c.cpp spell it, whose text the tests compare: f16 and bf16 live
// in a float; what OpenCL lacks is computed in double.
DType computes_in(std::string_view op, DType t) {
  static constexpr std::string_view in_f64[] = {"digamma", "erfinv", "lgamma"};
  if (is_floating(t) && std::ranges::find(in_f64, op) != std::end(in_f64)) return DType::f64;
  return compile::small_floats_in_f32(op, t);
}

}  // namespace rlx::oneapi
