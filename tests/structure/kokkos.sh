#!/usr/bin/env bash
# Hand-written host kernels are Kokkos code, and nobody outside knows it: the pool of threads is called by the execution
# space and by generated code alone, no file that is compiled for one instruction level sees Kokkos' headers, and the built
# libraries neither need nor export a symbol of it. Arguments: the source tree, the build tree,
# the C++ compiler.
set -euo pipefail
root=$1 build=$2 compiler=$3
cd "$root"
wrong=0
complain() { echo "$*"; wrong=$((wrong + 1)); }

# thread_pool.hpp's parallel_for; Kokkos' has its namespace in front.
while IFS= read -r hit; do
  [[ $hit =~ ^[^:]*:[0-9]*:[[:space:]]*// ]] || complain "calls the pool itself: $hit"
done < <(grep -rnE '(^|[^:_[:alnum:]]|cpu::)parallel_for\(' --include='*.cpp' --include='*.hpp' backends/cpu linalg/kernels/cpu splat/kernels/cpu |
  grep -vE '^backends/cpu/(kokkos/|thread_pool\.|backend\.cpp:)' || true)

# Weak functions that are compiled for the newest processor could be the ones that the linker chooses for all.
mapfile -t levels < <(find splat/kernels/cpu linalg/kernels/cpu backends/cpu -name '*_avx*.cpp' | sort)
((${#levels[@]} > 0)) || complain "no file of one instruction level was found"
for file in "${levels[@]}"; do
  reached=$("$compiler" -std=c++20 -march=x86-64-v4 -MM -I. -Isrc "$file") || complain "$file includes what other files of its kind do not"
  if grep -E 'kokkos/|blocks\.hpp|thread_pool' <<<"$reached"; then complain "$file reaches Kokkos"; fi
done

libraries=0
for library in "$build"/lib/librlx*.so; do
  [[ -e $library ]] || continue
  libraries=$((libraries + 1))
  if nm -DC "$library" | grep -E 'Kokkos::' | head -5 | grep .; then complain "$library has symbols of Kokkos"; fi
  if readelf -d "$library" | grep -iE 'NEEDED.*kokkos'; then complain "$library needs a library of Kokkos"; fi
done
((libraries > 0)) || complain "no library below $build/lib"
echo "${#levels[@]} files of one instruction level, $libraries libraries; $wrong complaints"
((wrong == 0))
