#!/usr/bin/env bash
# Builds tollgate and runs it with examples/quickstart and an upstream, `tollgate mock`, until Ctrl-C. What the quickstart does not
# use and takes long to build is left out; CONTRIBUTING.md lists these features.
#   PORT=8081 scripts/quickstart.sh          use another port for the gateway
#   TYK_GW_SECRET=... scripts/quickstart.sh  use your own control secret
#   FEATURES=graphql,wasm ...                build these, too
#   BIN=path/to/tollgate ...                 use a binary that is already built
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PORT=${PORT:-8080}
UPSTREAM_PORT=9090 # examples/quickstart/apps points here
READY_TRIES=100 # of 0.1 s

say() { printf '%s\n' "$*"; }
fail() {
    say "quickstart: $*" >&2
    exit 1
}

taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Does not use curl, because a new machine may not have it.
answers() { # PORT PATH
    (
        exec 3<>"/dev/tcp/127.0.0.1/$1"
        printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' "$2" >&3
        IFS= read -r -t 5 status <&3
        [[ $status == "HTTP/1.1 200"* ]]
    ) 2>/dev/null
}

wait_until_it_answers() { # NAME PID PORT PATH
    for ((try = 0; try < READY_TRIES; try++)); do
        kill -0 "$2" 2>/dev/null || fail "$1 exited before it answered; see its messages above"
        if answers "$3" "$4"; then return; fi
        sleep 0.1
    done
    fail "$1 does not answer on port $3"
}

children=()
stop() {
    trap - EXIT
    trap '' INT TERM
    for pid in "${children[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${children[@]}"; do wait "$pid" 2>/dev/null || true; done
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [[ -z ${BIN:-} ]]; then
    command -v cargo >/dev/null || fail "cargo is not installed; Tollgate needs Rust 1.95 or later"
    cargo build --profile start --package tollgate-gateway --bin tollgate --no-default-features --features "${FEATURES:-}"
    BIN=${CARGO_TARGET_DIR:-target}/start/tollgate
fi
BIN=$(realpath "$BIN")

! taken "$PORT" || fail "port $PORT is in use; choose another: PORT=8081 make run"
! taken "$UPSTREAM_PORT" || fail "port $UPSTREAM_PORT is in use, but the upstream needs it; stop the program that listens there"

# A secret for this run only; it is never written to disk.
if [[ -z ${TYK_GW_SECRET:-} ]]; then
    TYK_GW_SECRET=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
fi
export TYK_GW_SECRET

"$BIN" mock --listen "127.0.0.1:$UPSTREAM_PORT" &
upstream=$!
children+=("$upstream")
wait_until_it_answers "the upstream" "$upstream" "$UPSTREAM_PORT" /json/valid

(cd examples/quickstart && exec "$BIN" run --conf tyk.conf --port "$PORT") &
gateway=$!
children+=("$gateway")
wait_until_it_answers "the gateway" "$gateway" "$PORT" /demo/json/valid

cat <<EOF

  gateway        http://127.0.0.1:$PORT        (examples/quickstart: /demo/, /nginx/, /showcase/)
  upstream       http://127.0.0.1:$UPSTREAM_PORT
  control API    http://127.0.0.1:$PORT/tyk/
  console        http://127.0.0.1:$PORT/tyk/console/    (sign in with $TYK_GW_SECRET)

  Try:
    curl -i http://127.0.0.1:$PORT/demo/json/valid
    curl -i http://127.0.0.1:$PORT/showcase/users/42
    curl -H "x-tyk-authorization: $TYK_GW_SECRET" "http://127.0.0.1:$PORT/tyk/reload/?block=true"

  The console shows these requests as you send them.

  Ctrl-C stops both.

EOF

ended=0
wait -n "$upstream" "$gateway" || ended=$?
say "quickstart: one of the two processes exited (status $ended); stopping the other" >&2
exit "$ended"
