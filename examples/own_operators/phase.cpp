#include "phase.hpp"

namespace phase {

void add_to(rlx::runtime::Catalog& catalog) {
  catalog.operators.add(log_cosh_op);
  catalog.operators.add(unwrap_op);
  catalog.add_records("cpu", {&unwrap_on_cpu, 1});
}

}  // namespace phase
