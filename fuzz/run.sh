#!/usr/bin/env bash
# Runs each target for so many executions, without a sanitizer: the code has no `unsafe`.
#     [LONGEST=BYTES] fuzz/run.sh [EXECUTIONS] [TARGET ...]
set -euo pipefail
cd "$(dirname "$0")"
executions=${1:-1000000}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(container history lint records settings snapshot text)
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target"
    cargo +nightly fuzz run --sanitizer none "$target" "corpus/$target" "seeds/$target" -- \
        -runs="$executions" -max_len="${LONGEST:-2048}" -seed=1 -timeout=60 -print_final_stats=1
done
