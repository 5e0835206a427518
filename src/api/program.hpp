// An executable of the default catalog.
#pragma once
#include <rlx/runtime/executable.hpp>

#include <string>

namespace rlx::detail {

class CompiledProgram {
 public:
  CompiledProgram(const std::string& device, const Graph& g, const CompileOptions& options);
  HostValues run(const HostValues& arguments) const;
  HostValues run_donating(HostValues& arguments) const;
  runtime::ExecutableStatistics statistics() const { return executable_.statistics(); }
  const DispatchReport& report() const { return executable_.report(); }

 private:
  std::shared_ptr<runtime::Device> device_;
  runtime::Executable executable_;
  /// Whether calls look operators up, and so must not meet one being added: the interpreter does as it goes, and a
  /// program with a size point where it compiles what follows for a size that is new.
  bool looks_up_;
};

}  // namespace rlx::detail
