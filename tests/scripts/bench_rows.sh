#!/usr/bin/env bash
# A benchmark's rows are JSON objects of the documented keys, one a line; unknown options and names are refused.
set -uo pipefail
program=$1/bin/rlx_bench_compile_time
[[ -x $program ]] || { echo "skipped: $program is not built (RLX_BENCHMARKS, LLVM)"; exit 77; }
rows=$("$program" --benchmark_filter='^call') || { echo "the program failed"; exit 1; }
number='(-?[0-9.]+(e[-+]?[0-9]+)?|null)'
line="^\{\"name\":\"[^\"]+\",\"ours\":$number,\"rival\":$number,\"unit\":\"[^\"]+\",\"ratio\":$number,\"goal\":$number,\"threads\":[0-9]+,\"processor\":\"[^\"]+\"\}$"
(($(wc -l <<<"$rows") == 1)) && grep -Eq "$line" <<<"$rows" || { echo "not a row: $rows"; exit 1; }
# Medians of repetitions are still a row a name.
(($("$program" --benchmark_filter='^call' --benchmark_repetitions=3 | wc -l) == 1)) || { echo "a row a repetition"; exit 1; }
"$program" --benchmark_filter='^no such' >/dev/null 2>&1 && { echo "a filter that nothing matches passes"; exit 1; }
"$program" --unheard-of >/dev/null 2>&1
(($? == 2)) || { echo "an unknown option is not refused"; exit 1; }
