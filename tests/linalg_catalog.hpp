// The operators, records and rewrites of librlx and of the family linalg, made once a test program.
#pragma once
#include <rlx/catalog.hpp>
#include <rlx/linalg/register.hpp>

namespace rlx {

/// Never destroyed: devices and programs in static objects may outlive any other order.
inline const runtime::Catalog& linalg_catalog() {
  static const auto& c = *[] {
    auto* made = new runtime::Catalog(make_catalog());
    linalg::add_to(*made);
    return made;
  }();
  return c;
}

}  // namespace rlx
