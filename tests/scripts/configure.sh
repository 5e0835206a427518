#!/usr/bin/env bash
# The tree configures without the package of each optional part, and says that the part is off. One build folder serves
# all, since the compiler is examined but once; nothing is built. Benchmarks are left out: their rivals want packages too.
# configure.sh SOURCE BUILD COMPILER
source "$(dirname "${BASH_SOURCE[0]}")/../frame.sh"
source=$1
build=$2
compiler=$3

# Those of the top folder are a matter of choice. One of another folder that is not here would not be tested.
parts="LLVM ONEAPI SUITESPARSE VIEWER"
declared=$(grep -rhoP --include=CMakeLists.txt '^ *rlx_feature\(\K[A-Z_]+' "$source"/{src,backends,linalg,splat} | sort | xargs)
[[ $declared == "$parts" ]] || fail "optional parts: $declared; tested: $parts"

suitesparse=$(sed -n 's/^SUITESPARSE_INCLUDE_DIR:PATH=//p' "$build/CMakeCache.txt")
mkdir "$work/pkgconfig"  # All but the viewer's package.
IFS=: read -ra folders < <(pkg-config --variable pc_path pkg-config)
for file in $(find "${folders[@]}" -maxdepth 1 -name '*.pc' ! -name cpp-httplib.pc 2>/dev/null); do
  ln -sf "$file" "$work/pkgconfig"
done

for part in $parts; do
  hidden() { if [[ $part == "$1" ]]; then echo "$2"; else echo "${3-}"; fi; }
  env ${PKG_CONFIG_LIBDIR+PKG_CONFIG_LIBDIR="$PKG_CONFIG_LIBDIR"} $(hidden VIEWER "PKG_CONFIG_LIBDIR=$work/pkgconfig") \
    cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DRLX_BENCHMARKS=OFF -U'*HTTPLIB*' -U'SUITESPARSE*' \
    -DCMAKE_DISABLE_FIND_PACKAGE_LLVM="$(hidden LLVM ON OFF)" -DCMAKE_DISABLE_FIND_PACKAGE_OpenCL="$(hidden ONEAPI ON OFF)" \
    -DCMAKE_IGNORE_PATH="$(hidden SUITESPARSE "$suitesparse")" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; fail "the tree does not configure without what $part needs"; }
  grep -q -- "--   $part: OFF (" "$work/log" || { cat "$work/log" >&2; fail "$part is not off"; }
done
