// What the cpu device says that it computes in a wider type is what the LLVM IR of its kernels does.
#include "compile/emit_llvm/emit_llvm.hpp"
#include "widening_cases.hpp"

#include <rlx/runtime/backends.hpp>

namespace rlx {
namespace {

/// Without `begin` and what follows up to `end`, wherever that is.
void erase_all(std::string& text, std::string_view begin, std::string_view end) {
  for (std::size_t at; (at = text.find(begin)) != text.npos;) text.erase(at, text.find(end, at) + end.size() - at);
}

/// The kernels alone. There is one function that they call: it takes arguments of sines from 2^17 on to where they can
/// be computed in their own type.
std::string kernels_of(std::string text) {
  erase_all(text, "define internal", "\n}\n");
  erase_all(text, "declare ", "\n");
  return text;
}

// Before optimisation, at the plainest level: what it computes is the same at all of them.
TEST(CpuWidening, IsThatOfTheEmittedCode) {
  const int compared = test::expect_widening_as_stated(runtime::open_device("cpu")->target(), [](const Program& p) {
    return kernels_of(emit_llvm::emit_text(p.lir, emit_llvm::host_machine(emit_llvm::Isa::generic), false));
  });
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace rlx
