// The operators a program knows. A value: a program may hold several, and outside projects add to their own.
#pragma once
#include <rlx/ir/op.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rlx {

class RLX_API Registry {
 public:
  Registry() = default;
  Registry(Registry&&) = default;
  Registry& operator=(Registry&&) = default;

  /// Throws ArgumentError when the name is taken.
  template <Attributes A>
  void add(const OpDef<A>& def) {
    add(erase(def));
  }
  void add(std::unique_ptr<Op> op);

  const Op* find(std::string_view name) const;
  /// Throws ArgumentError for an unknown name, with the nearest known one.
  const Op& get(std::string_view name) const;
  /// All operators, by name.
  std::vector<const Op*> all() const;

 private:
  std::map<std::string, std::unique_ptr<Op>, std::less<>> ops_;
};

}  // namespace rlx
