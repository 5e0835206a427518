#!/usr/bin/env bash
# Outside backends/ and the kernels/<device>/ folders of families, nothing names a device: no quoted name of one in library
# sources. The program may have a default, and names in comments and documentation are free.
set -euo pipefail
cd "$1"
mapfile -t devices < <(sed -nE 's/^add_subdirectory\(([a-z0-9_]+)\).*/\1/p' backends/CMakeLists.txt)
((${#devices[@]} > 0))
# The two devices that serve tests have names that mean other things too.
devices=($(printf '%s\n' "${devices[@]}" | grep -vxE 'null|reference'))
names=$(IFS='|'; echo "${devices[*]}")
wrong=0
while IFS= read -r hit; do
  file=${hit%%:*}
  code=${hit#*:*:}
  case $file in
    # A default that a caller can change, and the family's registration of the records of its kernels/<device>/ folder.
    linalg/include/rlx/linalg/solver.hpp|linalg/register.cpp|splat/register.cpp|src/cli/*) continue ;;
  esac
  [[ $code =~ ^[[:space:]]*// ]] && continue
  code=${code%%//*}
  grep -qE "\"($names)\"" <<<"$code" || continue
  echo "$hit"
  wrong=$((wrong + 1))
done < <(grep -rnE "\"($names)\"" --include='*.cpp' --include='*.hpp' src linalg splat nn mpi 2>/dev/null | grep -vE '^[a-z]+/kernels/' || true)
echo "devices: ${devices[*]}; $wrong names outside their folders"
((wrong == 0))
