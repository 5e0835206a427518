// Whether checked mode is on where nobody says is the library's to decide: its build type is the argument. Compiled
// with and without NDEBUG, which is its user's.
#include <rlx/jit.hpp>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  const bool debug = argc == 2 && std::string(argv[1]) == "Debug";
  const rlx::CompileOptions options{.reproducible = true};
  const rlx::JitOptions function{};
  std::printf("checked mode is %s\n", options.checked ? "on" : "off");
  return options.checked == debug && function.checked == debug ? 0 : 1;
}
