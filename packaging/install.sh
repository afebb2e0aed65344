#!/bin/sh
# Installs Tollgate @VERSION@: downloads the release's archive, checks that its sum is in SHA256SUMS and that SHA256SUMS is signed with the
# release key, and only then unpacks it. Without minisign or OpenSSL 3 to check the signature, nothing is installed.
#
# Usage: install.sh [--prefix FOLDER] [--from URL-OR-FOLDER]
#   --prefix  where bin/ and share/ are [/usr/local]
#   --from    where the files of the release are [the release's page]
set -eu

version='@VERSION@'
key='@PUBLIC_KEY@'
prefix=/usr/local
from=https://github.com/tollgate-gateway/tollgate/releases/download/v$version

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case "$1" in
    --prefix | --from)
        [ $# -ge 2 ] || fail "$1 needs a value"
        if [ "$1" = --prefix ]; then prefix=$2; else from=$2; fi
        shift 2
        ;;
    *) fail "unknown option $1; usage: install.sh [--prefix FOLDER] [--from URL-OR-FOLDER]" ;;
    esac
done
[ -n "$key" ] || fail "this copy was made without a release key and can check nothing"
[ "$(uname -s)" = Linux ] || fail "Tollgate runs on Linux, not on $(uname -s)"
machine=$(uname -m)
case "$machine" in
x86_64 | aarch64) ;;
arm64) machine=aarch64 ;;
*) fail "there is no program for $machine" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch() {
    case "$from" in
    http://* | https://*)
        if command -v curl >/dev/null; then
            curl -fsSL --retry 3 -o "$work/$1" "$from/$1" || fail "$from/$1 cannot be downloaded"
        elif command -v wget >/dev/null; then
            wget -q -O "$work/$1" "$from/$1" || fail "$from/$1 cannot be downloaded"
        else
            fail "neither curl nor wget is installed"
        fi
        ;;
    *) cp "$from/$1" "$work/$1" || fail "$from/$1 is not there" ;;
    esac
}

# The bytes FROM to TO of what comes in.
part() { head -c "$2" | tail -c "$(($2 - $1 + 1))"; }

# A signature of minisign is the base64 of ED, the key's number and the Ed25519 signature of the file's BLAKE2b-512.
check_with_openssl() {
    sed -n 2p "$work/SHA256SUMS.minisig" | openssl base64 -d -A >"$work/signature"
    printf '%s' "$key" | openssl base64 -d -A >"$work/key"
    [ "$(head -c 2 "$work/signature")" = ED ] || fail "the signature has a form that this script does not know; install minisign"
    part 3 10 <"$work/signature" >"$work/signed-by"
    part 3 10 <"$work/key" >"$work/number"
    cmp -s "$work/signed-by" "$work/number" || fail "SHA256SUMS is signed with another key"
    part 11 74 <"$work/signature" >"$work/ed25519"
    { printf '\060\052\060\005\006\003\053\145\160\003\041\000' && part 11 42 <"$work/key"; } >"$work/key.der"
    openssl dgst -blake2b512 -binary -out "$work/digest" "$work/SHA256SUMS"
    openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$work/digest" -sigfile "$work/ed25519" >/dev/null 2>&1 ||
        fail "the signature of SHA256SUMS is wrong: the files are not those of the release"
}

archive=tollgate-$version-linux-$machine.tar.gz
fetch SHA256SUMS
fetch SHA256SUMS.minisig
if command -v minisign >/dev/null; then
    minisign -V -q -P "$key" -m "$work/SHA256SUMS" -x "$work/SHA256SUMS.minisig" >/dev/null 2>&1 ||
        fail "the signature of SHA256SUMS is wrong: the files are not those of the release"
elif openssl version 2>/dev/null | grep -q '^OpenSSL [3-9]'; then
    check_with_openssl
else
    fail "neither minisign nor OpenSSL 3 is installed, so the signature cannot be checked"
fi
grep -q "  $archive\$" "$work/SHA256SUMS" || fail "SHA256SUMS does not name $archive: it is that of another version"
fetch "$archive"
(cd "$work" && grep "  $archive\$" SHA256SUMS | sha256sum -c - >/dev/null 2>&1) || fail "$archive has another sum than the release says; nothing was installed"

tar -xzf "$work/$archive" -C "$work"
mkdir -p "$prefix/bin" "$prefix/share" || fail "$prefix cannot be written; call this script as root, or with --prefix"
# A running gateway keeps its file: the new one takes the name.
cp "$work/tollgate-$version-linux-$machine/bin/tollgate" "$prefix/bin/.tollgate.new" || fail "$prefix/bin cannot be written"
mv "$prefix/bin/.tollgate.new" "$prefix/bin/tollgate"
cp -R "$work/tollgate-$version-linux-$machine/share/." "$prefix/share/"
echo "Tollgate $version is installed: $prefix/bin/tollgate"
