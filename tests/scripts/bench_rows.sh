#!/usr/bin/env bash
# A benchmark's rows are JSON objects of the documented keys, one a line; unknown options and names are refused.
set -uo pipefail
program=$1/bin/rlx_bench_compile_time
[[ -x $program ]] || { echo "skipped: $program is not built (RLX_BENCHMARKS, LLVM)"; exit 77; }
rows=$("$program" --benchmark_filter='^call') || { echo "the program failed"; exit 1; }
number='(-?[0-9.]+(e[-+]?[0-9]+)?|null)'
line="^\{\"name\":\"[^\"]+\",\"ours\":$number,\"rival\":$number,\"unit\":\"[^\"]+\",\"ratio\":$number,\"goal\":$number,\"threads\":[0-9]+,\"processor\":\"[^\"]+\"\}$"
(($(wc -l <<<"$rows") == 1)) && grep -Eq "$line" <<<"$rows" || { echo "not a row: $rows"; exit 1; }
# Those of operators come from their definitions: each operator with a sample that can be filled has a case for cpu.
ops=$1/bin/rlx_bench_ops
if [[ -x $ops ]]; then
  cases=$("$ops" --benchmark_list_tests) || { echo "the operators' cases cannot be made"; exit 1; }
  for op in exp softmax dot_general sort gather scatter fft linalg.spmv linalg.solve splat.project; do
    grep -Eq "^$op .* on cpu/" <<<"$cases" || { echo "no case of $op"; exit 1; }
  done
  known=$("$1/bin/rlx" ops --json | grep -o '"meaning":' | wc -l) timed=$(sed 's/ .*//' <<<"$cases" | sort -u | wc -l)
  ((timed * 10 >= known * 8)) || { echo "cases of $timed operators of $known"; exit 1; }
  rows=$("$ops" --benchmark_filter='^exp f32.* on cpu') || { echo "a case of exp failed"; exit 1; }
  (($(grep -Ec "$line" <<<"$rows") == 3 && $(wc -l <<<"$rows") == 3)) || { echo "not three rows: $rows"; exit 1; }
  for kind in time bytes operations; do
    grep -Eq "\"name\":\"exp f32[^\"]* on cpu: $kind\",\"ours\":[0-9]" <<<"$rows" || { echo "no row of $kind: $rows"; exit 1; }
  done
fi
# Medians of repetitions are still a row a name.
(($("$program" --benchmark_filter='^call' --benchmark_repetitions=3 | wc -l) == 1)) || { echo "a row a repetition"; exit 1; }
"$program" --benchmark_filter='^no such' >/dev/null 2>&1 && { echo "a filter that nothing matches passes"; exit 1; }
"$program" --unheard-of >/dev/null 2>&1
(($? == 2)) || { echo "an unknown option is not refused"; exit 1; }
