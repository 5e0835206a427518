#!/usr/bin/env bash
# The kernels of a family for a device are part of the build where the device is on, and nothing else needs them: with the
# compiler of the cpu device off, a configured tree names no file of <family>/kernels/cpu/, and otherwise the same ones.
source "$(dirname "${BASH_SOURCE[0]}")/../frame.sh"
root=$1
configure() {  # NAME OPTION...
  cmake -S "$root" -B "$work/$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRLX_TESTS=OFF -DRLX_BENCHMARKS=OFF "${@:2}" \
    >"$work/$1.log" 2>&1 || { cat "$work/$1.log"; exit 1; }
  sed -nE 's/^ *"file": ".*\/((linalg|splat)\/[^"]+)".*/\1/p' "$work/$1/compile_commands.json" | sort >"$work/$1.files"
}
configure with
configure without -DRLX_LLVM=OFF
for family in linalg splat; do
  grep -q "^$family/kernels/cpu/" "$work/with.files" || { echo "no kernel of the cpu device for $family in the default build"; exit 1; }
done
if grep '^[a-z]*/kernels/cpu/' "$work/without.files"; then
  echo "built although the device cpu is off"
  exit 1
fi
grep -v '^[a-z]*/kernels/cpu/' "$work/with.files" | diff - "$work/without.files"
# What is left includes no header of those kernels.
if (cd "$root" && grep -nE '#include "[a-z]+/kernels/' {linalg,splat}/*.cpp {linalg,splat}/*.hpp {linalg,splat}/ops/* {linalg,splat}/include/rlx/*/*); then
  echo "sources for all devices include a device's header"
  exit 1
fi
echo "$(wc -l <"$work/without.files") sources without the device, $(wc -l <"$work/with.files") with it"
