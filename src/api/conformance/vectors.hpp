// Host values as vectors: what finite differences and adjoints compute with. Only f64 and c128 tensors and csr matrices
// of them; of a csr matrix the stored values are the vector.
#pragma once
#include "api/conformance/fill.hpp"

namespace rlx::conformance {

/// Whether central differences of a value of the type say something: f64 and c128.
bool is_smooth(const Type& t);
const HostTensor& elements_of(const HostValue& x);
/// Re <x, y>: the inner product under which a complex number is two real ones.
double inner(const HostValue& x, const HostValue& y);
/// Sum of |x_i| |y_i|: what rounding errors of `inner` are measured by.
double magnitude(const HostValue& x, const HostValue& y);
/// x + t v.
HostValue moved(const HostValue& x, double t, const HostValue& v);
/// A value of the structure of x with random elements in [-1, 1).
HostValue random_like(const HostValue& x, std::uint64_t seed);
bool all_finite(const HostValue& x);

}  // namespace rlx::conformance
