#!/usr/bin/env bash
# Checks the dependencies against deny.toml: licences, bans, sources, and known vulnerabilities if the advisory database can
# be fetched. If cargo-deny cannot be installed, it skips the check and says why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# cargo installs here; the PATH may not include it.
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if ! command -v cargo-deny >/dev/null; then
    echo "deny: installing cargo-deny (takes minutes, once)"
    if ! cargo install cargo-deny --locked >"$log" 2>&1; then
        echo "deny: skipped, cargo-deny cannot be installed here:" >&2
        tail -n 3 "$log" >&2
        exit 0
    fi
fi

cargo-deny --workspace check bans licenses sources

# The database comes over the network. If the network is closed, that is not a failure of the project.
if cargo-deny fetch db >"$log" 2>&1; then
    cargo-deny --workspace check advisories
else
    echo "deny: advisories not checked, the database cannot be fetched:" >&2
    grep -v '^$' "$log" | tail -n 1 >&2
fi
