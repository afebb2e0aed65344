#!/usr/bin/env bash
# Runs every fuzz target for FUZZ_SECONDS (20) from the committed corpus. For a short look before a release;
# the tests run the same corpus without a fuzzer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${FUZZ_SECONDS:-20}
if [[ ! -d fuzz ]]; then
    echo "fuzz-short: there is no fuzz/ directory" >&2
    exit 1
fi
if ! command -v cargo-fuzz >/dev/null; then
    echo "fuzz-short: cargo-fuzz is missing; cargo install cargo-fuzz --locked" >&2
    exit 1
fi
# On a stable compiler the instrumentation flags are still unstable; this switch admits them.
export RUSTC_BOOTSTRAP=1
for target in $(cargo fuzz list); do
    echo "== $target, $seconds s"
    cargo fuzz run "$target" --sanitizer none -- -max_total_time="$seconds" -rss_limit_mb=2048
done
