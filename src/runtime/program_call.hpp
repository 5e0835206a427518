// One call of a compiled program: its memory, its resources, and its steps in their order.
#pragma once
#include "runtime/loaded_program.hpp"
#include "runtime/number_watch.hpp"

#include <rlx/ir/evaluate.hpp>

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace rlx::runtime {

class ProgramCall {
 public:
  /// `arena` has room for the program's arena and workspace. `reuse` as in Executable::run. `arguments` outlive the
  /// call; run() takes those that are donated.
  ProgramCall(LoadedProgram& program, const Block& arena, Arguments arguments, HostValues reuse);
  ~ProgramCall();
  ProgramCall(const ProgramCall&) = delete;
  ProgramCall& operator=(const ProgramCall&) = delete;

  /// Runs all steps and waits for them. Throws what they and the checks of kernels refuse.
  HostValues run();

 private:
  // Before the steps.
  void bind_inputs();
  void unshare_donated();
  void take_donated();
  void make_outputs();
  KernelBuffer bind(const Place& p) const;

  // The steps.
  void steps(const std::vector<Step>& list);
  void execute(const Step& s);
  void loop(const Step& s);  // The host reads the condition's answer before each trip.
  void counted_loop(const Step& s);
  void call(const Step& s);  // record_call.cpp, with the kernels that it runs.
  Epilogue epilogue(const Step& call) const;
  std::vector<Prologue> prologues(const Step& call) const;
  bool truth(int place) const;

  // After them.
  void refuse_checked();
  HostValues results();
  const Place* output_place(std::size_t output) const;
  HostTensor output(std::size_t& next);
  HostValue take(const Type& t, std::size_t& next);

  const KernelBuffer& at(int place) const { return bound_[static_cast<std::size_t>(place)]; }
  BufferView view(int place) const;
  std::vector<KernelBuffer> buffers(const Step& s) const;
  void launch(const Step& kernel);
  HostTensor contents(int place) const;

  LoadedProgram& p_;
  const Block& arena_;
  const Arguments arguments_;
  std::map<std::size_t, HostTensor> donated_;  // By input of the program, once they are taken.
  std::vector<ResourceValue> resources_;
  std::vector<Allocation> inputs_, output_allocations_;
  std::vector<Block> device_inputs_, device_outputs_;
  std::vector<HostTensor> outputs_;
  HostValues results_;  // Of an earlier call, until memory is taken from them; then those of this one.
  std::vector<KernelBuffer> bound_;
  std::vector<KernelBuffer> launched_;   // Of the kernel that is launched; its memory serves the next one.
  std::unique_ptr<CheckRecord> checks_;  // In checked mode, and where sizes are watched.
  std::optional<NumberWatch> numbers_;   // Under RLX_CHECK_NUMERICS.
  std::int64_t output_bytes_ = 0;
};

}  // namespace rlx::runtime
