// The environment variables that the library and the program read. tests/structure compares this table with the
// sources.
#pragma once
#include <span>
#include <string_view>

namespace rlx::cli {

struct EnvironmentVariable {
  std::string_view name, meaning;
};

inline std::span<const EnvironmentVariable> environment_variables() {
  static constexpr EnvironmentVariable table[] = {
      {"RLX_POLICY",
       "prefer-native, force-common or force-native: which lowerings dispatch may take; behind commas OPERATOR= and "
       "one"},
      {"RLX_REPRODUCIBLE", "1: refuse records that do not give the same bits every time"},
      {"RLX_RECOGNISE",
       "0: resolve operators that were written out node by node as they stand (else: as the operator)"},
      {"RLX_DEVICE",
       "device of what names none: tensors, compiled functions, solvers, commands (else the first real one available)"},
      {"RLX_CHECKED",
       "1 or 0: check indices of gather and scatter (else as the caller says; rlx and debug builds of the library: "
       "on)"},
      {"RLX_CHECK_NUMERICS", "1: stop at the first node that makes a NaN or an infinity, and name it (slow)"},
      {"RLX_TRACE", "file.json to write what every step took, for chrome://tracing or ui.perfetto.dev"},
      {"RLX_THREADS", "threads of the cpu device"},
      {"RLX_ISA", "instruction level of generated host code, for the same bits on different processors"},
      {"RLX_MEMORY_LIMIT", "bytes, or a number with K, M or G, that the process may hold, what it has read included"},
      {"RLX_CACHE_DIR", "folder of compiled code; empty or off: no cache"},
      {"RLX_CACHE_LIMIT_MB", "size above which the cache drops what was used longest ago"},
      {"RLX_PLUGIN_PATH",
       "folders, separated by colons, where plug-ins such as librlx_suitesparse are looked for first"},
      {"RLX_ONEAPI_PLATFORM", "part of the name of the OpenCL platform that the oneapi device takes"},
  };
  return table;
}

}  // namespace rlx::cli
