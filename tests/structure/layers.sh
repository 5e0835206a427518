#!/usr/bin/env bash
# A file includes only headers of its own layer and of those below it, in the order of the design. The include paths of the
# build enforce most of this; the text is checked because objects linked together would hide the rest.
set -euo pipefail
root=$1
cd "$root"

# Lowest first; folders of one level may not include each other. A backend fills the compiler's and the runtime's interfaces; it may
# not see what is above it.
order=(src/ir src/ops src/formats src/transform src/compile src/runtime backends src/api linalg splat nn mpi src/cli)
declare -A level=([src/ir]=0 [src/ops]=1 [src/formats]=1 [src/transform]=2 [src/compile]=2 [src/runtime]=3 [backends]=4 [src/api]=5
                  [linalg]=6 [splat]=6 [nn]=6 [mpi]=6 [src/cli]=7)

layer_of_header() {  # the layer that an include path belongs to, or nothing
  case $1 in
    rlx/ir/*|ir/*) echo src/ir ;;
    rlx/ops/*|ops/*) echo src/ops ;;
    rlx/formats/*|formats/*) echo src/formats ;;
    rlx/transform/*|transform/*) echo src/transform ;;
    rlx/compile/*|compile/*) echo src/compile ;;
    rlx/runtime/*|runtime/*) echo src/runtime ;;
    rlx/linalg/*|linalg/*) echo linalg ;;
    rlx/splat/*|splat/*) echo splat ;;
    rlx/nn/*|nn/*) echo nn ;;
    rlx/mpi/*|mpi/*) echo mpi ;;
    backends/*) echo backends ;;
    cli/*) echo src/cli ;;
    rlx/*|api/*) echo src/api ;;
  esac
}

wrong=0
checked=0
for layer in "${order[@]}"; do
  [[ -d $layer ]] || continue
  while IFS=: read -r file line text; do
    header=$(sed -E 's/^[^<"]*[<"]([^>"]+)[>"].*/\1/' <<<"$text")
    target=$(layer_of_header "$header")
    [[ -n $target ]] || continue
    checked=$((checked + 1))
    if [[ $target != "$layer" ]] && ((${level[$target]} >= ${level[$layer]})); then
      echo "$file:$line: $layer includes $header of $target, which is not below it"
      wrong=$((wrong + 1))
    fi
  done < <(grep -rnE '^\s*#\s*include\s*[<"]' --include='*.cpp' --include='*.hpp' --include='*.inc' "$layer")
done
echo "$checked includes between layers checked, $wrong against the order"
if ((checked == 0)); then
  echo "no include of a layer was found below $root: nothing was checked"
  exit 1
fi
((wrong == 0))
