#!/usr/bin/env bash
# Builds tollgate_VERSION_ARCH.deb from a program that is built already. Usage: build.sh [PROGRAM [DIRECTORY]]
#
# dpkg-deb is the only tool of Debian that it needs. The same program and commit give the same package, byte for byte.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=$(realpath "${1:-${CARGO_TARGET_DIR:-$root/target}/release/tollgate}")
into=$(realpath "${2:-$root/target}")
[[ -x $program ]] || { echo "$program is not a program; make release builds one" >&2; exit 1; }

version=$("$program" version | cut -d ' ' -f 2)
[[ $version == "$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)" ]] || { echo "$program has version $version, Cargo.toml another" >&2; exit 1; }
architecture=$(dpkg --print-architecture)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"

doc=$tree/usr/share/doc/tollgate
compressed() { gzip -9 -n -c "$1" >"$2"; }

install -D -m 755 "$program" "$tree/usr/bin/tollgate"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$tree/usr/bin/tollgate"
install -D -m 644 -t "$tree/lib/systemd/system" "$root/packaging/systemd/tollgate.service" "$root/packaging/systemd/tollgate.socket"
install -D -m 644 "$root/packaging/systemd/tollgate.sysusers" "$tree/usr/lib/sysusers.d/tollgate.conf"
install -D -m 644 "$here/tyk.conf" "$tree/etc/tollgate/tyk.conf"
install -D -m 644 "$here/environment" "$tree/etc/tollgate/environment"
install -D -m 644 "$here/logrotate" "$tree/etc/logrotate.d/tollgate"

install -D -m 644 "$here/copyright" "$doc/copyright"
install -m 644 "$here/README.Debian" "$doc/README.Debian"
install -D -m 644 -t "$doc/examples/apps" "$here"/examples/apps/*.json
printf 'tollgate (%s) unstable; urgency=medium\n\n  * Version %s. CHANGELOG.md lists what changed.\n\n -- %s  %s\n' \
    "$version" "$version" "$(sed -n 's/^Maintainer: //p' "$here/control")" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" >"$tree/changelog"
# A version without a Debian revision is a native package, whose changelog has this name.
compressed "$tree/changelog" "$doc/changelog.gz"
rm "$tree/changelog"
install -m 644 "$root/CHANGELOG.md" "$doc/CHANGELOG.md"
gzip -9 -n "$doc/CHANGELOG.md"

"$program" completions bash | install -D -m 644 /dev/stdin "$tree/usr/share/bash-completion/completions/tollgate"
"$program" completions zsh | install -D -m 644 /dev/stdin "$tree/usr/share/zsh/vendor-completions/_tollgate"
"$program" completions fish | install -D -m 644 /dev/stdin "$tree/usr/share/fish/vendor_completions.d/tollgate.fish"
mkdir -p "$tree/usr/share/man/man1"
"$program" man "$tree/usr/share/man/man1"
gzip -9 -n "$tree"/usr/share/man/man1/*.1
install -D -m 644 "$here/lintian-overrides" "$tree/usr/share/lintian/overrides/tollgate"

mkdir "$tree/DEBIAN"
# The newest symbols of the C library that the program uses.
libc=$(objdump -T "$tree/usr/bin/tollgate" | grep -o 'GLIBC_[0-9][0-9.]*' | cut -d _ -f 2 | sort -uV | tail -n 1)
size=$(du -k -s --exclude=DEBIAN "$tree" | cut -f 1)
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" -e "s/@LIBC@/$libc/" "$here/control" >"$tree/DEBIAN/control"
install -m 644 "$here/conffiles" "$tree/DEBIAN/conffiles"
install -m 755 -t "$tree/DEBIAN" "$here/postinst" "$here/prerm" "$here/postrm"
(cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$tree" -type d -exec chmod 755 {} +
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

mkdir -p "$into"
dpkg-deb --root-owner-group -Zxz --build "$tree" "$into/tollgate_${version}_$architecture.deb"
