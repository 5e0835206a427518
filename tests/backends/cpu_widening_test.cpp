// What the cpu device says that it computes in a wider type is what the LLVM IR of its kernels does.
#include "compile/emit_llvm/emit_llvm.hpp"
#include "widening_cases.hpp"

#include <rlx/runtime/backends.hpp>

namespace rlx {
namespace {

// Before optimisation, at the plainest level: what it computes is the same at all of them.
TEST(CpuWidening, IsThatOfTheEmittedCode) {
  const int compared = test::expect_widening_as_stated(runtime::open_device("cpu")->target(), [](const Program& p) {
    return emit_llvm::emit_text(p.lir, emit_llvm::host_machine(emit_llvm::Isa::generic), false);
  });
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace rlx
