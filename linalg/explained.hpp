// Why a device made a resource as it did, carried with the opaque data: any device may say so, and no one who asks
// needs to know what the data are.
#pragma once
#include <memory>
#include <string>
#include <utility>

namespace rlx::linalg {

/// In the place of a deleter, which std::get_deleter finds by its type: data made by others have none.
struct Explanation {
  std::shared_ptr<const void> data;
  std::string reason;
  void operator()(const void*) noexcept { data.reset(); }
};

/// The same data, with the reason.
inline std::shared_ptr<const void> explained(std::shared_ptr<const void> data, std::string reason) {
  const void* const at = data.get();
  return {at, Explanation{std::move(data), std::move(reason)}};
}

/// Empty where nobody said why.
inline std::string reason_of(const std::shared_ptr<const void>& data) {
  const auto* e = std::get_deleter<Explanation>(data);
  return e ? e->reason : "";
}

}  // namespace rlx::linalg
