#!/bin/sh
# Joins Redis servers to a cluster of masters, unless they are one already. Usage: join.sh HOST[:PORT]...
set -eu

first=${1%:*} first_port=6379
case $1 in *:*) first_port=${1#*:} ;; esac
is_joined() { redis-cli -h "$first" -p "$first_port" cluster info | grep -q '^cluster_state:ok'; }

if ! is_joined; then
    addresses=
    for server in "$@"; do
        port=6379
        case $server in *:*) port=${server#*:} ;; esac
        # Redis joins addresses, not names.
        addresses="$addresses $(getent hosts "${server%:*}" | awk '{ print $1; exit }'):$port"
    done
    # shellcheck disable=SC2086 # one word each
    redis-cli --cluster create $addresses --cluster-yes
fi
tries=0
until is_joined; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || { echo "the cluster is not complete after 60 seconds" >&2; exit 1; }
    sleep 1
done
