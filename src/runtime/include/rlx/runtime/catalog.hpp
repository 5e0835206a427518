// What a program can use: operators, and kernel records that families bring for devices besides the backend's own.
#pragma once
#include <rlx/compile/target.hpp>
#include <rlx/ir/registry.hpp>

#include <map>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::runtime {

/// A value that a program makes once and hands to whatever parses, builds or compiles graphs. Families add to it:
/// linalg::add_to(catalog).
struct Catalog {
  Registry operators;
  std::map<std::string, std::vector<KernelRecord>, std::less<>> records;  ///< By device.
  /// Where families may be added while programs run: whoever adds holds it alone, and programs that compile a part of
  /// theirs in a call hold it shared meanwhile.
  std::shared_mutex* guard = nullptr;

  /// Held while a call compiles: no family is added meanwhile.
  std::shared_lock<std::shared_mutex> stay() const {
    return guard ? std::shared_lock(*guard) : std::shared_lock<std::shared_mutex>();
  }

  void add_records(std::string_view device, std::span<const KernelRecord> list) {
    auto& to = records[std::string(device)];
    to.insert(to.end(), list.begin(), list.end());
  }
};

}  // namespace rlx::runtime
