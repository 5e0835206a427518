// Checked mode where nobody asks for it: on in debug builds of the library, off in others, in every way in; whoever
// says so, and RLX_CHECKED above all, decides otherwise.
#include "catalog.hpp"
#include "places.hpp"

#include <rlx/conformance.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/rlx.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <source_location>
#include <string>

namespace rlx {
namespace {

/// RLX_CHECKED while it lives; null: not set.
class CheckedVariable {
 public:
  explicit CheckedVariable(const char* value) {
    if (const char* text = std::getenv("RLX_CHECKED")) before_ = text;
    put(value);
  }
  ~CheckedVariable() { put(before_ ? before_->c_str() : nullptr); }
  CheckedVariable(const CheckedVariable&) = delete;
  CheckedVariable& operator=(const CheckedVariable&) = delete;

 private:
  static void put(const char* value) { value ? ::setenv("RLX_CHECKED", value, 1) : ::unsetenv("RLX_CHECKED"); }
  std::optional<std::string> before_{};
};

const Tensor checked_numbers = Tensor::from({10.0, 20.0, 30.0}),
             beyond_numbers = Tensor::from(std::vector<std::int32_t>{7});

// Whether index 7 of three numbers is refused; else it is clamped, which gives the last one.
template <class F>
bool refuses(const F& call) {
  try {
    EXPECT_EQ(call(), 30);
    return false;
  } catch (const ArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("7"), std::string::npos) << e.what();
    return true;
  }
}

bool jit_refuses(const JitOptions& options) {
  return refuses([&] {
    const auto f = jit([](const Tensor& x, const Tensor& i) { return take(x, i, 0); }, options);
    return f(checked_numbers, beyond_numbers).template to_vector<double>()[0];
  });
}

bool executable_refuses(const std::string& device, const CompileOptions& options) {
  Graph g("take");
  Builder b(g, registry());
  const Value x = b.input(f64({3}), "x"), i = b.input(tensor(DType::i32, {1}), "i");
  b.output(ops::take(x, i, 0), "y");
  const runtime::Executable e(runtime::open_device(device), g, catalog(), options);
  return refuses([&] {
    return std::get<HostTensor>(e.run(HostValues{checked_numbers.host_tensor(), beyond_numbers.host_tensor()})[0])
        .get_f64(0);
  });
}

TEST(CheckedDefault, IsThatOfTheLibrarysBuild) {
  const bool debug = places::debug_build();
  EXPECT_EQ(checked_by_default(), debug);
  EXPECT_EQ(CompileOptions{}.checked, debug);
  EXPECT_EQ(JitOptions{}.checked, debug);
  EXPECT_EQ(conformance::Options{}.compile.checked, debug);
  EXPECT_EQ((CompileOptions{.reproducible = true}).checked, debug);
}

TEST(CheckedDefault, HoldsForGraphs) {
  for (const char* device : {"reference", "cpu"}) {
    EXPECT_EQ(executable_refuses(device, {}), places::debug_build()) << device;
    EXPECT_TRUE(executable_refuses(device, {.checked = true})) << device;
    EXPECT_FALSE(executable_refuses(device, {.checked = false})) << device;
  }
}

TEST(CheckedDefault, HoldsForCompiledFunctions) {
  const CheckedVariable unset(nullptr);
  EXPECT_EQ(jit_refuses({}), places::debug_build());
  EXPECT_TRUE(jit_refuses({.checked = true}));
  EXPECT_FALSE(jit_refuses({.checked = false}));
}

TEST(CheckedDefault, TheEnvironmentDecides) {
  for (const bool on : {false, true}) {
    const CheckedVariable set(on ? "1" : "0");
    EXPECT_EQ(options_from_environment().checked, on);
    EXPECT_EQ(jit_refuses({}), on);
    EXPECT_EQ(jit_refuses({.checked = !on}), on);
  }
  const CheckedVariable empty("");
  EXPECT_EQ(options_from_environment().checked, places::debug_build());
}

// What is computed at once has no graph that a user knows: the function and the line that called it stand for that.
TEST(CheckedDefault, AnIndexIsToldAsOfTheFunctionThatWasCalled) {
  const CheckedVariable set("1");
  const Tensor five = zeros({5});
  const std::source_location here = std::source_location::current();
  try {
    (void)take(five, Tensor::from(std::vector<std::int32_t>{0, 9}), 0);
    ADD_FAILURE() << "accepted";
  } catch (const ArgumentError& e) {
    EXPECT_EQ(
        std::string(e.what()),
        "gather index 9 is out of range in program \"take\": expected 0 to 4 by the operand indices of %2 gather (" +
            std::string(here.file_name()) + ":" + std::to_string(here.line() + 2) + ")");
  }
}

}  // namespace
}  // namespace rlx
