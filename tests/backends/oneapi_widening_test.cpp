// What the oneapi device says that it computes in a wider type is what the OpenCL C of its kernels does.
#include "backends/oneapi/opencl_c.hpp"
#include "compile/emit_source/emit.hpp"
#include "oneapi_support.hpp"
#include "widening_cases.hpp"

namespace rlx {
namespace {

using OneapiWidening = test::OneapiTest;

TEST_F(OneapiWidening, IsThatOfTheEmittedCode) {
  const int compared = test::expect_widening_as_stated(device->target(), [](const Program& p) {
    const std::string text = emit_source::emit(p.lir, oneapi::opencl_c).text;
    return text.substr(oneapi::opencl_c.preamble.size());
  });
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace rlx
