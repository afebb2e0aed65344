#!/usr/bin/env bash
# Runs every fuzz target for FUZZ_SECONDS (20) from the committed corpus: a quick check before a release. The tests run the same
# corpus without a fuzzer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${FUZZ_SECONDS:-20}
if [[ ! -d fuzz ]]; then
    echo "fuzz-short: there is no fuzz/ directory" >&2
    exit 1
fi
if ! command -v cargo-fuzz >/dev/null; then
    echo "fuzz-short: cargo-fuzz is not installed; run: cargo install cargo-fuzz --locked" >&2
    exit 1
fi
# The instrumentation flags are unstable; this variable allows them on a stable compiler.
export RUSTC_BOOTSTRAP=1
for target in $(cargo fuzz list); do
    echo "== $target, $seconds s"
    cargo fuzz run "$target" --sanitizer none -- -max_total_time="$seconds" -rss_limit_mb=2048
done
