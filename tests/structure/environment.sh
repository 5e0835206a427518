#!/usr/bin/env bash
# The table of environment variables of `rlx doctor` and the sources agree: every RLX_ variable that is read is listed, and
# every listed one is read.
set -euo pipefail
cd "$1"
table=src/cli/environment.hpp
listed=$(sed -nE 's/^ *\{"(RLX_[A-Z0-9_]+)".*/\1/p' "$table" | sort -u)
folders=()
for folder in src linalg splat nn mpi backends; do [[ -d $folder ]] && folders+=("$folder"); done
# getenv itself, and flag("RLX_X", ...), which reads a few of them.
read_=$(grep -rhoE '(getenv|flag)\("RLX_[A-Z0-9_]+"' --include='*.cpp' --include='*.hpp' "${folders[@]}" | grep -oE 'RLX_[A-Z0-9_]+' | sort -u)
if ! difference=$(diff <(echo "$listed") <(echo "$read_")); then
  sed -nE 's/^</listed but not read:/p; s/^>/read but not listed:/p' <<<"$difference"
  exit 1
fi
echo "$(wc -l <<<"$listed") variables, all listed and all read"
