#!/usr/bin/env bash
# Outside backends/ and the kernels/<device>/ folders of families, nothing names a device: no quoted name of one in library
# sources. Names in comments and documentation are free, and file formats, which know no device, spell words of their own.
set -euo pipefail
cd "$1"
mapfile -t devices < <(sed -nE 's/^add_subdirectory\(([a-z0-9_]+)\).*/\1/p' backends/CMakeLists.txt)
((${#devices[@]} > 0))
names=$(IFS='|'; echo "${devices[*]}")
wrong=0
while IFS= read -r hit; do
  code=${hit#*:*:}
  [[ $code =~ ^[[:space:]]*// ]] && continue
  code=${code%%//*}
  grep -qE "\"($names)\"" <<<"$code" || continue
  echo "$hit"
  wrong=$((wrong + 1))
done < <(grep -rnE "\"($names)\"" --include='*.cpp' --include='*.hpp' src linalg splat nn mpi 2>/dev/null |
  grep -vE '^([a-z]+/kernels|src/formats)/' || true)
echo "devices: ${devices[*]}; $wrong names outside their folders"
((wrong == 0))
