#!/usr/bin/env bash
# No source file above 1,000 lines, no operator slot left as a scaffold, one line in the list for every operator file.
set -euo pipefail
cd "$1"
wrong=0
complain() { echo "$*"; wrong=$((wrong + 1)); }

mapfile -t files < <(find src linalg splat nn mpi backends tests benchmarks examples cmake scripts -type f \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.inc' -o -name '*.cmake' -o -name 'CMakeLists.txt' -o -path 'scripts/*' \) 2>/dev/null | sort)
for file in "${files[@]}"; do
  lines=$(wc -l <"$file")
  ((lines <= 1000)) || complain "$file has $lines lines, more than 1000"
done

while read -r hit; do complain "unanswered slot: $hit"; done < <(grep -rnE 'Never\{"todo"\}' --include='*.cpp' src linalg splat nn mpi backends 2>/dev/null || true)

for list in src/ops/all_ops.inc linalg/ops/all_ops.inc splat/ops/all_ops.inc nn/ops/all_ops.inc; do
  [[ -f $list ]] || continue
  while read -r constant; do
    grep -qlE "OpDef<[A-Za-z]+> ${constant}\{" "$(dirname "$list")"/*.cpp || complain "$list names $constant, which no file beside it defines"
  done < <(sed -nE 's/^RLX_OP\([A-Za-z]+, ([a-z0-9_]+)\)$/\1/p' "$list")
  while read -r constant; do
    grep -qE "^RLX_OP\([A-Za-z]+, ${constant}\)$" "$list" || complain "$constant is defined beside $list but not in it"
  done < <(grep -hoE 'extern const OpDef<[A-Za-z]+> [a-z0-9_]+\{' "$(dirname "$list")"/*.cpp | sed -E 's/.* ([a-z0-9_]+)\{/\1/')
done
echo "${#files[@]} files checked, $wrong complaints"
((wrong == 0))
