#!/usr/bin/env bash
# Each public header compiles alone, in whatever order a user includes them. Arguments: the source tree, the C++ compiler.
set -euo pipefail
root=$1 compiler=$2
cd "$root"

mapfile -t folders < <(find src linalg splat -type d -name include | sort)
mapfile -t headers < <(find "${folders[@]}" -name '*.hpp' | sort)
(( ${#headers[@]} > 50 )) || { echo "only ${#headers[@]} public headers were found"; exit 1; }
check() {
  "$1" -std=c++20 -fsyntax-only -w "${@:3}" -x c++ "$2" || { echo "$2 does not compile alone"; exit 1; }
}
export -f check
printf '%s\0' "${headers[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c 'check "$@"' _ "$compiler" {} "${folders[@]/#/-I}"
echo "${#headers[@]} public headers compile alone"
