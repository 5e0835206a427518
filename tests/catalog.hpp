// The operators, records and rewrites of librlx, made once a test program.
#pragma once
#include <rlx/catalog.hpp>

namespace rlx {

/// Never destroyed: devices and programs in static objects may outlive any other order.
inline const runtime::Catalog& catalog() {
  static const auto& c = *new runtime::Catalog(make_catalog());
  return c;
}
inline const Registry& registry() { return catalog().operators; }

}  // namespace rlx
