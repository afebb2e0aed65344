#!/usr/bin/env bash
# Starts the machines of inventory.ini on this one, as containers of Debian under systemd, to try the playbooks.
# Needs root, systemd-container, debootstrap and tinyproxy. What the machines write is gone when they end.
#
# Usage: local-hosts.sh up DIRECTORY      make what is missing in DIRECTORY, start the machines and wait for them
#        local-hosts.sh down DIRECTORY    end them
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
bridge=tollgate0
gateway=10.77.0.1
# A machine as ansible's users get it: an SSH server and Python.
packages=systemd-sysv,dbus,openssh-server,python3,python3-apt,sudo,iproute2,ca-certificates,curl,logrotate,procps

usage() {
    sed -n 's/^# \(Usage: .*\)/\1/p; s/^# \( \{7\}local-hosts.*\)/\1/p' "$0" >&2
    exit 2
}

machines() {
    sed -n 's/^\([a-z0-9-]*\) ansible_host=\([0-9.]*\)$/\1 \2/p' "$here/inventory.ini"
}

make_base() {
    local base=$directory/base
    [[ -e $directory/key ]] || ssh-keygen -q -t ed25519 -N '' -f "$directory/key"
    [[ -e $base/ready ]] && return
    echo "installing Debian in $base"
    rm -rf "$base"
    debootstrap --variant=minbase --include="$packages" bookworm "$base" http://deb.debian.org/debian >"$directory/debootstrap.log" 2>&1
    echo "Acquire::http::Proxy \"http://$gateway:3142\";" >"$base/etc/apt/apt.conf.d/00proxy"
    install -D -m 600 "$directory/key.pub" "$base/root/.ssh/authorized_keys"
    systemctl --root="$base" --quiet enable systemd-networkd ssh
    touch "$base/ready"
}

make_network() {
    if ! ip link show "$bridge" >/dev/null 2>&1; then
        ip link add "$bridge" type bridge
        ip address add "$gateway/24" dev "$bridge"
        ip link set "$bridge" up
    fi
    # The machines reach each other and this proxy for packages, nothing else.
    printf 'Listen %s\nPort 3142\nTimeout 600\nMaxClients 100\nAllow 10.77.0.0/24\nPidFile "%s"\nLogFile "%s"\n' \
        "$gateway" "$directory/proxy.pid" "$directory/proxy.log" >"$directory/proxy.conf"
    tinyproxy -c "$directory/proxy.conf"
}

start() {
    local name=$1 address=$2
    printf '[Match]\nName=host0\n[Network]\nAddress=%s/24\n' "$address" >"$directory/$name.network"
    (
        # Each in a control group of its own, so that each systemd has its root to itself.
        for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
            if [[ -e $hierarchy/cgroup.procs ]] && mkdir -p "$hierarchy/$name" 2>/dev/null; then
                echo "$BASHPID" >"$hierarchy/$name/cgroup.procs" || true
            fi
        done
        exec systemd-nspawn --quiet --boot --keep-unit --register=no --directory="$directory/base" --volatile=overlay --machine="$name" \
            --network-bridge="$bridge" --link-journal=no --bind-ro="$directory/$name.network:/etc/systemd/network/10-host0.network"
    ) </dev/null >"$directory/$name.log" 2>&1 &
    echo $! >"$directory/$name.pid"
}

reach() {
    ssh -q -i "$directory/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=2 -o BatchMode=yes "root@$1" true
}

up() {
    mkdir -p "$directory"
    make_base
    make_network
    local name address
    while read -r name address; do start "$name" "$address"; done < <(machines)
    while read -r name address; do
        for ((tries = 60; ; tries--)); do
            reach "$address" </dev/null && break
            ((tries > 0)) || { echo "$name cannot be reached: see $directory/$name.log" >&2; exit 1; }
            sleep 1
        done
        echo "$name is at $address"
    done < <(machines)
    echo "next, in $here:"
    echo "    export ANSIBLE_HOST_KEY_CHECKING=no ANSIBLE_REMOTE_USER=root ANSIBLE_PRIVATE_KEY_FILE=$directory/key"
    echo "    ansible-playbook site.yml --extra-vars control_secret=SECRET"
}

down() {
    local file
    for file in "$directory"/*.pid; do
        [[ -e $file ]] && kill "$(cat "$file")" 2>/dev/null || true
        rm -f "$file"
    done
    ip link delete "$bridge" 2>/dev/null || true
}

[[ $# == 2 ]] || usage
directory=$(realpath -m "$2")
case $1 in
up | down) "$1" ;;
*) usage ;;
esac
