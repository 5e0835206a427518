// In a sanitized build generated code is checked as this library's own code is: what lowering gets wrong by one element
// is a report and not a wrong number.
#include "kernel_program.hpp"

namespace rlx::testing_kernels {
namespace {

#ifdef RLX_ADDRESS_SANITIZER

/// y[i + shift] = x[i] for n elements each, at one instruction level.
void shifted_copy(emit_llvm::Isa isa, std::int64_t n, std::int64_t shift) {
  Program p;
  const Value x = p.buffer(DType::f32, n), y = p.buffer(DType::f32, n);
  p.kernel({n}, {x, y}, 1, [&](const Body& k) { k.store(1, k.plus(k.index[0], shift), k.load(0, k.index[0])); });
  run(*device_of(isa), p.graph(), {random_tensor(DType::f32, n, 1), HostTensor(DType::f32, {n})});
}

TEST(GeneratedAddresses, StoresOutsideOfABufferAreReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const emit_llvm::Isa isa : host_levels()) {
    shifted_copy(isa, 100, 0);
    EXPECT_DEATH(shifted_copy(isa, 100, 1), "AddressSanitizer: heap-buffer-overflow") << name(isa);
    EXPECT_DEATH(shifted_copy(isa, 100, -1), "AddressSanitizer: heap-buffer-overflow") << name(isa);
  }
}

#endif

}  // namespace
}  // namespace rlx::testing_kernels
