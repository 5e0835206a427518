#!/usr/bin/env bash
# What the compiler promises of operators: a definition without one of its slots, and attributes that leave a member out of
# `fields` or cannot be compared, do not compile. Arguments: the source tree, the C++ compiler.
source "$(dirname "${BASH_SOURCE[0]}")/../frame.sh"
root=$1 compiler=$2
cd "$root"

whole=src/ops/floor.cpp  # A definition whose slots are one statement each.
cp "$whole" "$work/compiles_floor.cpp"
slots=(name doc infer meaning vjp jvp batch shard cost samples)
for slot in "${slots[@]}"; do
  # From the slot's line to the last line of its statement.
  awk -v slot="    .$slot = " 'index($0, slot) == 1 { inside = 1 } !inside { print } inside && /^    (\.|\}).*,$/ && !/\{$/ { inside = 0 }' \
    "$whole" >"$work/refused_$slot.cpp"
  (($(wc -l <"$work/refused_$slot.cpp") < $(wc -l <"$whole"))) || { echo "$whole has no slot $slot"; exit 1; }
done

attributes() {  # FILE EQUALITY FIELDS
  printf '%s\n' '#include <rlx/ir/attributes.hpp>' 'using namespace rlx;' 'struct A {' '  int axis = 0;' '  bool keep = false;' \
    "  $2" "  static constexpr auto fields = std::tuple{$3};" '};' 'static_assert(Attributes<A>);' >"$work/$1.cpp"
}
equality='bool operator==(const A&) const = default;'
axis='Field{"axis", &A::axis, "a"}' keep='Field{"keep", &A::keep, "b"}'
attributes compiles_attributes "$equality" "$axis, $keep"
attributes refused_missing_field "$equality" "$axis"
attributes refused_no_equality '' "$axis, $keep"

check() {  # COMPILER FILE FLAGS...
  local name
  name=$(basename "$2" .cpp)
  if "$1" -std=c++20 -fsyntax-only -w "${@:3}" "$2" 2>"$2.log"; then
    [[ $name == compiles_* ]] || { echo "$name compiles"; exit 1; }
  else
    [[ $name == refused_* ]] || { cat "$2.log"; exit 1; }
  fi
}
export -f check
mapfile -t folders < <(find src/ir src/ops -type d -name include)
printf '%s\0' "$work"/*.cpp | xargs -0 -P "$(nproc)" -I{} bash -c 'check "$@"' _ "$compiler" {} -Isrc "${folders[@]/#/-I}"
echo "${#slots[@]} slots and 2 kinds of attributes are refused by the compiler where they are missing"
