#!/usr/bin/env bash
# Installs the built tree into an empty folder, then builds and runs a consumer by find_package and by pkg-config. The
# consumer's program is taken from README.md, so the example there compiles and is at most ten lines.
# consumer.sh SOURCE BUILD COMPILER
set -euo pipefail
source=$1
build=$2
compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "consumer: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log" >&2; fail "the tree cannot be installed"; }
awk '/^```cpp$/ {inside = 1; next} /^```$/ {if (inside) exit} inside' "$source/README.md" >"$work/example.cpp"
lines=$(wc -l <"$work/example.cpp")
((lines > 0 && lines <= 10)) || fail "README.md has an example of $lines lines, expected 1 to 10"

# Somebody else's project: nothing of the source tree but the consumer's own files.
cp "$source"/tests/install/{CMakeLists.txt,graph.cpp} "$work"
cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" -DEXAMPLE="$work/example.cpp" >"$work/configure.log" ||
  { cat "$work/configure.log" >&2; fail "find_package(rlx) failed"; }
cmake --build "$work/build"
"$work/build/graph"
"$work/build/example" | tee "$work/out"
grep -q 'backward error' "$work/out" || fail "the example printed something else"

pc=$(find "$work/prefix" -name rlx.pc)
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs rlx)
library=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --variable=libdir rlx)
# shellcheck disable=SC2086
"$compiler" "$work/example.cpp" -o "$work/by_pkg_config" $flags -Wl,-rpath,"$library"
"$work/by_pkg_config" | grep -q 'backward error' || fail "the program linked by pkg-config printed something else"

"$work/prefix/bin/rlx" doctor >"$work/doctor" || fail "the installed program does not run"
grep -qi "librlx_suitesparse" "$work/doctor"
"$work/prefix/bin/rlx" solve "$source/tests/data/matrices/west0067.mtx"
if readelf -d "$library"/librlx*.so "$work/prefix/bin/rlx" | grep -iE 'r(un)?path' | grep -qE "$build"; then fail "something installed points into the build tree"; fi
# GPL and LGPL code stays in the plug-in.
if readelf -d "$library"/librlx.so "$library"/librlx_linalg.so | grep -E 'NEEDED.*(umfpack|klu|cholmod)'; then fail "librlx links SuiteSparse"; fi
echo "consumer: find_package and pkg-config both work"
