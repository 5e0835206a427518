// A LIR program in the form that is run: places of buffers and a list of steps.
#pragma once
#include <rlx/compile/compile.hpp>
#include <rlx/compile/lir.hpp>

#include <map>
#include <memory>
#include <vector>

namespace rlx::runtime {

/// Where a buffer's bytes are; none: nowhere, a call makes it in pieces.
struct Place {
  enum class Kind : std::uint8_t { input, arena, constant, output, none } kind = Kind::arena;
  std::size_t index = 0;    ///< Of the input, constant or output.
  std::int64_t offset = 0;  ///< Bytes.
  std::int64_t bytes = 0;
  TensorType type{};
  int memory = -1;  ///< The place that this one is a view of, or itself.
};

/// What a step is called and for which node of the user's graph it was made; node and op are empty where for none.
struct StepInfo {
  std::string name, kind;    ///< As in the report: "exp_0" and "kernel", the record and "call", "copy", "while", "if".
  std::string node{}, op{};  ///< "%17", with the path of the region that it stands in.
  Location location{};
  bool has_infinity = false;  ///< The kernel's text holds an infinite constant.
};

/// What is run for that row of the report; -1: for none.
StepInfo step_info(const DispatchReport& report, std::int32_t row, std::string name, std::string kind,
                   Location location);

/// A launch record with the instance it was accepted for; owns what the instance points to.
struct Call {
  const KernelRecord* record = nullptr;
  const Op* op = nullptr;
  AnyAttrs attrs{};
  Types operand_types{}, result_types{};
  std::int64_t workspace_bytes = 0;
  std::vector<int> in_places{}, out_places{};  ///< Indices of places.
  std::vector<int> prologues{};  ///< For each of `in_places` the place of the call's prologues, -1: it is in memory.
  std::vector<int> resource_slots{}, made_slots{};  ///< Indices of resource slots.
};

struct Step {
  enum class Kind : std::uint8_t { kernel, call, copy, loop, branch } kind = Kind::kernel;
  std::size_t index = 0;                      ///< Of the kernel or call.
  std::vector<int> places{};                  ///< Buffers of a kernel; from and to of a copy; predicate of a branch.
  std::vector<Step> prologues{}, epilogue{};  ///< Kernels that a call runs.
  std::vector<Step> condition{}, body{};      ///< Of a loop.
  int answer = -1;                            ///< Place that the condition leaves its answer in; -1: trips are known.
  std::int64_t max_trips = -1;                ///< Of a loop; -1: no bound.
  std::int64_t trips = -1;                    ///< Of a loop; -1: as long as the answer is yes.
  std::vector<Step> if_true{}, if_false{};    ///< Of a branch.
  std::vector<int> reads{}, writes{};         ///< Places, of a kernel, call or copy.
  std::shared_ptr<const StepInfo> info{};
};

struct Steps {
  std::vector<Place> places;
  std::vector<Call> calls;
  std::vector<Step> steps;
  std::vector<HostTensor> constants;
  std::vector<int> output_places;  ///< One a program output; -1 - slot for a resource. An input's: written over it.
  std::size_t resource_slots = 0;
  std::vector<int> input_slots;  ///< Resource slot of each program input, -1 for tensors.
  std::int64_t arena_bytes = 0, output_bytes = 0;
};

/// Throws InternalError when the program names a record that is not in `records`.
Steps prepare(const Program& program, const Registry& registry, const Target& target,
              std::span<const KernelRecord> records);

}  // namespace rlx::runtime
