#include <rlx/catalog.hpp>
#include <rlx/compile/lir.hpp>
#include <rlx/ops/register.hpp>

#include "api/trace.hpp"

#include <set>
#include <string>

namespace rlx {

runtime::Catalog make_catalog() {
  runtime::Catalog c;
  ops::register_ops(c.operators);
  lir::register_ops(c.operators);
  return c;
}

namespace detail {
std::shared_mutex& catalog_mutex() {
  static auto& mutex = *new std::shared_mutex;
  return mutex;
}
}  // namespace detail

runtime::Catalog& default_catalog() {
  static auto& catalog = *[] {
    auto* c = new runtime::Catalog(make_catalog());
    c->guard = &detail::catalog_mutex();
    return c;
  }();
  return catalog;
}

void extend_default_catalog(std::string_view family, void (*add)(runtime::Catalog&)) {
  static auto& added = *new std::set<std::string, std::less<>>;
  {
    const detail::CatalogLock lock(detail::catalog_mutex());
    if (added.contains(family)) return;
  }
  const std::lock_guard lock(detail::catalog_mutex());
  if (added.emplace(family).second) add(default_catalog());
}

}  // namespace rlx
