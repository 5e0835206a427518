// A compiled program on its device: what all its calls share.
#pragma once
#include "runtime/arguments.hpp"
#include "runtime/block.hpp"
#include "runtime/constants.hpp"
#include "runtime/steps.hpp"
#include "runtime/trace.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace rlx::runtime {

/// Memory for results, which each call makes, or takes from what it may use again.
struct OutputMemory {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape{};
  std::size_t result = none;  ///< That stands in it and is dense, so that the tensor of an earlier call can be used.
  static constexpr std::size_t none = SIZE_MAX;
};

struct LoadedProgram {
  std::shared_ptr<Device> device;
  std::vector<KernelRecord> records;  ///< Steps point into it.
  Program program;
  Steps steps;
  std::unique_ptr<Module> module;  ///< Null where the device interprets.
  Types output_types;
  std::vector<OutputMemory> outputs{};  ///< By Place::index.
  std::vector<std::size_t> donated;     ///< Arguments that calls take.
  bool checked = false, numerics = false;
  bool padded_results = false;  ///< As they stand in their buffers, not cut to their sizes.
  bool watches = false;         ///< Has checks that are an operator's NumericalError, in checked mode or not.
  std::shared_ptr<const std::string> name;
  Trace* trace = nullptr;
  std::int64_t workspace_bytes = 0;  ///< Of the call that takes most; it follows the arena.
  Meter meter{};
  std::atomic<std::int64_t> in_place_bytes{0}, copied_bytes{0};  ///< As in ExecutableStatistics.
  std::vector<std::shared_ptr<const Constant>> constants{};      ///< By Place::index; in the meter of each program.

  const Place& place(int i) const { return steps.places[static_cast<std::size_t>(i)]; }
  std::int64_t arena_and_workspace() const { return steps.arena_bytes + workspace_bytes; }
  /// Throws what a check found.
  [[noreturn]] void refuse(const CheckReport& c) const;
};
}  // namespace rlx::runtime
