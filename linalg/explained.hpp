// What a device says about the opaque data of a resource that it made: the type of the data, so that no one reads those
// of another provider as its own, and the reason why they are as they are. Carried with the data.
#pragma once
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

namespace rlx::linalg {

/// In the place of a deleter, which std::get_deleter finds by its type: data made by others have none.
struct Explanation {
  std::shared_ptr<const void> data;
  const std::type_info* type;
  std::string reason;
  void operator()(const void*) noexcept { data.reset(); }
};

/// The same data, with their type and the reason.
template <class T>
std::shared_ptr<const void> explained(std::shared_ptr<const T> data, std::string reason) {
  const void* const at = data.get();
  return {at, Explanation{std::move(data), &typeid(T), std::move(reason)}};
}

/// Empty where nobody said why.
inline std::string reason_of(const std::shared_ptr<const void>& data) {
  const auto* e = std::get_deleter<Explanation>(data);
  return e ? e->reason : "";
}

/// The data as what explained<T>() was given; null where they were made otherwise.
template <class T>
const T* data_as(const std::shared_ptr<const void>& data) {
  const auto* e = std::get_deleter<Explanation>(data);
  return e && *e->type == typeid(T) ? static_cast<const T*>(data.get()) : nullptr;
}

}  // namespace rlx::linalg
