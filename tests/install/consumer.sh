#!/usr/bin/env bash
# Installs the built tree into an empty folder, then builds and runs a consumer by find_package and by pkg-config. The
# consumer's programs are the examples of README.md, each a block of C++ of at most ten lines, and those of examples/.
# consumer.sh SOURCE BUILD COMPILER
source "$(dirname "${BASH_SOURCE[0]}")/../frame.sh"
source=$1
build=$2
compiler=$3

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log" >&2; fail "the tree cannot be installed"; }
awk -v work="$work" '/^```cpp$/ {file = work "/example" ++n ".cpp"; next} /^```$/ {file = ""} file {print >file}' "$source/README.md"
printed=('backward error' 'slope = 2$' 'is drawn')  # What each example, in the order of README.md, prints among other things.
examples=("$work"/example*.cpp)
((${#examples[@]} == ${#printed[@]})) || fail "README.md has ${#examples[@]} examples, expected ${#printed[@]}"
for example in "${examples[@]}"; do
  lines=$(wc -l <"$example")
  ((lines <= 10)) || fail "README.md has an example of $lines lines, expected at most 10"
done

printed+=('largest error 1\.[0-9]e-04$' 'conductivities 2\.000 and 0\.500$')
examples+=("$source"/examples/{implicit_heat,two_materials}.cpp)
for example in "$source"/examples/*.cpp; do
  [[ " ${examples[*]} " == *" $example "* ]] || fail "nobody says what $example prints"
done

# Somebody else's project: nothing of the source tree but the consumer's own files.
cp "$source"/tests/install/{CMakeLists.txt,graph.cpp,checked.cpp,beside_kokkos.cpp} "$work"
cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" -DEXAMPLES="$(IFS=";"; echo "${examples[*]}")" >"$work/configure.log" ||
  { cat "$work/configure.log" >&2; fail "find_package(rlx) failed"; }
cmake --build "$work/build"
"$work/build/graph"
if [[ -x $work/build/beside_kokkos ]]; then
  RLX_DEVICE=cpu "$work/build/beside_kokkos" || fail "a program with a Kokkos of its own fails"
else
  echo "consumer: left out beside_kokkos: no Kokkos library (Debian: libtrilinos-kokkos-dev)"
fi
# Checked mode is on where the library is a debug build, whatever its users are.
type=$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$build/CMakeCache.txt")
folder=$(dirname "$(find "$work/prefix" -name librlx.so)")
for flags in "-UNDEBUG -O0" "-DNDEBUG -O2"; do
  # shellcheck disable=SC2086
  "$compiler" -std=c++20 $flags -I"$work/prefix/include" "$work/checked.cpp" -o "$work/checked" -L"$folder" -lrlx -Wl,-rpath,"$folder"
  "$work/checked" "$type" || fail "compiled with $flags, a program has another mode than the library's $type build"
done
# Operators that somebody else defines, in a library of theirs.
cp -r "$source/examples/own_operators" "$work/own_operators"
cmake -S "$work/own_operators" -B "$work/own_operators/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" >"$work/configure.log" ||
  { cat "$work/configure.log" >&2; fail "a project with operators of its own cannot be configured"; }
cmake --build "$work/own_operators/build"
RLX_DEVICE=cpu "$work/own_operators/build/own_operators" | tee "$work/out" || fail "operators of another project fail"
grep -q '^two operators of our own$' "$work/out" || fail "operators of another project were not tried"

cd "$work"
"$work/prefix/bin/rlx" splat capture --random 100 -o "$work/made" --views 1 --size 16x16
cp made/scene.ply scene.ply  # The examples find it where they run.
for i in "${!printed[@]}"; do
  example=$(basename "${examples[i]}" .cpp)
  "$work/build/$example" | tee "$work/out"
  grep -q "${printed[i]}" "$work/out" || fail "$example printed something else"
done

pc=$(find "$work/prefix" -name rlx.pc)
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs rlx)
library=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --variable=libdir rlx)
# shellcheck disable=SC2086
"$compiler" "$work/example1.cpp" -o "$work/by_pkg_config" $flags -Wl,-rpath,"$library"
"$work/by_pkg_config" | grep -q 'backward error' || fail "the program linked by pkg-config printed something else"

"$work/prefix/bin/rlx" doctor >"$work/doctor" || fail "the installed program does not run"
grep -qi "librlx_suitesparse" "$work/doctor"
"$work/prefix/bin/rlx" solve "$source/tests/data/matrices/west0067.mtx"
if readelf -d "$library"/librlx*.so "$work/prefix/bin/rlx" | grep -iE 'r(un)?path' | grep -qE "$build"; then fail "something installed points into the build tree"; fi
# GPL and LGPL code stays in the plug-in.
if readelf -d "$library"/librlx.so "$library"/librlx_linalg.so | grep -E 'NEEDED.*(umfpack|klu|cholmod)'; then fail "librlx links SuiteSparse"; fi
echo "consumer: find_package and pkg-config both work"
