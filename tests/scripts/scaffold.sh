#!/usr/bin/env bash
# scripts/new-op makes one file and one line, scripts/new-backend one folder and one line; what they make is complete enough
# to compile, and an operator with unanswered slots is refused by tests/structure. Works on a copy of the tree.
source "$(dirname "${BASH_SOURCE[0]}")/../frame.sh"
root=$1
command -v git >/dev/null || { echo "git is not there"; exit 77; }
copy=$work
tar -C "$root" --exclude=./build --exclude=./.git --exclude=./.cache -cf - . | tar -C "$copy" -xf -
cd "$copy"
git init -q .
git -c core.safecrlf=false add -A
git -c user.name=test -c user.email=test@localhost commit -q -m tree

# expect FILES LINES: as many new files, and as many lines added to known files, none taken away.
expect() {
  git add -A
  local new changed
  new=$(git diff --cached --diff-filter=A --name-only | wc -l)
  changed=$(git diff --cached --diff-filter=M --numstat | awk '{added += $1; taken += $2} END {print added + 0 "+" taken + 0 "-"}')
  git diff --cached --stat
  [[ $new == "$1" ]] || fail "$new new files, expected $1"
  [[ $changed == "$2+0-" ]] || fail "$changed lines of known files, expected $2+0-"
  git -c user.name=test -c user.email=test@localhost commit -q -m step
}

includes=()
for layer in ir ops formats transform compile runtime api; do includes+=("-Isrc/$layer/include"); done
check() { c++ -std=c++20 -fsyntax-only "${includes[@]}" -Ilinalg/include -Isrc -I. "$1"; }

scripts/new-op core swish
expect 1 1
check src/ops/swish.cpp
scripts/new-op linalg trace
expect 1 1
check linalg/ops/trace.cpp
if bash tests/structure/files.sh "$copy" >complaints; then fail "unanswered slots were not refused"; fi
grep -q 'unanswered slot: src/ops/swish.cpp' complaints || fail "swish.cpp is not named"
rm complaints
if scripts/new-op core swish 2>/dev/null; then fail "an operator was made twice"; fi
if scripts/new-op nonesuch thing 2>/dev/null; then fail "a family was invented"; fi
if scripts/new-op core Bad-Name 2>/dev/null; then fail "a bad name was taken"; fi

scripts/new-backend quantum
expect 5 1
check backends/quantum/backend.cpp
check backends/quantum/kernels.cpp
if scripts/new-backend quantum 2>/dev/null; then fail "a device was made twice"; fi
echo "scaffolds: one file and one line each"
