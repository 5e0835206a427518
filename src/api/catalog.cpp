#include <rlx/catalog.hpp>
#include <rlx/compile/lir.hpp>
#include <rlx/ops/register.hpp>

namespace rlx {

runtime::Catalog make_catalog() {
  runtime::Catalog c;
  ops::register_ops(c.operators);
  lir::register_ops(c.operators);
  return c;
}

}  // namespace rlx
