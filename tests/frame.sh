# What tests that are scripts share; sourced. A folder that goes when they end, and how they fail.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$(basename "$0" .sh): $*" >&2; exit 1; }
