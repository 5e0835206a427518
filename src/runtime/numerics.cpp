#include "runtime/numerics.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace rlx::runtime {

static Numbers kind_of(double x) {
  return std::isnan(x) ? Numbers::nan : std::isinf(x) ? Numbers::infinite : Numbers::finite;
}

Worst worst_of(const HostTensor& t) {
  Worst worst;
  if (!is_floating(t.dtype()) && !is_complex(t.dtype())) return worst;
  for (std::int64_t i = 0; i < t.numel() && worst.numbers != Numbers::nan; ++i) {
    Numbers n;
    if (is_complex(t.dtype())) {
      const std::complex<double> z = t.get_c128(i);
      n = std::max(kind_of(z.real()), kind_of(z.imag()));
    } else n = kind_of(t.get_f64(i));
    if (n > worst.numbers) worst = {n, i};
  }
  return worst;
}

}  // namespace rlx::runtime
