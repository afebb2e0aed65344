#!/usr/bin/env python3
"""Installs the files of dist/ as newcomers do, each in a clean root, and goes from there to an answered request and an open console: an
upstream, a gateway, an API, a key. Prints what each step took. Runs as root: it makes clean systems with debootstrap.

Usage: dist_check.py [--dist FOLDER] [deb|rpm|script|image|chart|aarch64]...; without a name, all of them. Programs for aarch64 are started
by qemu without a system of their own, so their packages' scripts do not run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request

from release import source
from release.source import Refused, run

DEBIAN = "bookworm"
# What the scripts of the packages and install.sh need, and minimal systems lack.
INCLUDE = "systemd-standalone-sysusers,openssl,rpm,ca-certificates"
# How long something that must happen may take; it only bounds a hang.
PATIENCE_S = 120


def clean_root(into: pathlib.Path) -> pathlib.Path:
    """A new system. The first one is kept, because the archive of Debian is slow."""
    kept = source.tools() / f"{DEBIAN}.tar"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as name:
            run("debootstrap", "--variant=minbase", f"--include={INCLUDE}", DEBIAN, name)
            run("tar", "--one-file-system", "-C", name, "-cf", kept, ".")
    into.mkdir()
    run("tar", "-C", into, "-xf", kept)
    # Temporary folders are for their owner alone, and a root is for everybody.
    into.chmod(0o755)
    return into


def within(root: pathlib.Path, *command: str, user: str = "0:0") -> list[str]:
    """A command in a root, in namespaces of its own: what it starts ends with it, and what it mounts nobody sees. It has /proc and /dev, as
    in a container."""
    mounts = 'mkdir -p "$0/proc" "$0/dev" && mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec "$@"'
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "sh", "-c", mounts, str(root), "chroot", f"--userspec={user}", str(root), *command]


def deb(dist: pathlib.Path, work: pathlib.Path) -> None:
    root = clean_root(work / "root")
    shutil.copy(one(dist, "*_amd64.deb"), root / "tollgate.deb")
    run(*within(root, "/usr/bin/dpkg", "--install", "/tollgate.deb"))
    newcomer("deb", lambda *words: within(root, "/usr/bin/tollgate", *words, user="tollgate:tollgate"), root / "var/lib/tollgate", "/var/lib/tollgate")
    run(*within(root, "/usr/bin/dpkg", "--purge", "tollgate"))
    if (root / "var/lib/tollgate").exists() or (root / "usr/bin/tollgate").exists():
        raise Refused("purging the package leaves something")


def rpm(dist: pathlib.Path, work: pathlib.Path) -> None:
    root = clean_root(work / "root")
    shutil.copy(one(dist, "*.x86_64.rpm"), root / "tollgate.rpm")
    # The database of rpm is empty on a system of Debian: it does not know that systemd is there.
    run(*within(root, "/usr/bin/rpm", "--install", "--nodeps", "/tollgate.rpm"))
    newcomer("rpm", lambda *words: within(root, "/usr/bin/tollgate", *words, user="tollgate:tollgate"), root / "var/lib/tollgate", "/var/lib/tollgate")
    run(*within(root, "/usr/bin/rpm", "--erase", "tollgate"))
    if (root / "usr/bin/tollgate").exists():
        raise Refused("erasing the package leaves the program")


def script(dist: pathlib.Path, work: pathlib.Path) -> None:
    root = clean_root(work / "root")
    (root / "dist").mkdir()
    for name in ("SHA256SUMS", "SHA256SUMS.minisig", "install.sh", one(dist, "*-linux-x86_64.tar.gz").name):
        shutil.copy(dist / name, root / "dist")
    print(run(*within(root, "/bin/sh", "/dist/install.sh", "--from", "/dist")), end="")
    (root / "home/a").mkdir()
    os.chown(root / "home/a", 1000, 1000)
    newcomer("install.sh", lambda *words: within(root, "/usr/local/bin/tollgate", *words, user="1000:1000"), root / "home/a", "/home/a")


def image(dist: pathlib.Path, work: pathlib.Path) -> None:
    root = unpacked_image(one(dist, "*-image-amd64.tar"), work / "root")
    home = "/opt/tyk-gateway"
    # The root has no shell, but the runtime of a container mounts /proc too.
    newcomer("image", lambda *words: within(root, "/usr/local/bin/tollgate", *words, user="65532:65532"), root / home[1:], home)


def chart(dist: pathlib.Path, work: pathlib.Path) -> None:
    packed = one(dist, "*-chart.tgz")
    values = ("--kube-version", "1.33.0", "--set", "controlSecret.value=a")
    run(source.tool("helm"), "lint", "--strict", packed, *values)
    rendered = run(source.tool("helm"), "template", "gateway", packed, *values)
    if "kind: StatefulSet" not in rendered or f"tollgate:{source.version()}" not in rendered:
        raise Refused("the chart renders no StatefulSet of this version")
    print(f"{'chart':<12} lints and renders the image of {source.version()}")


def aarch64(dist: pathlib.Path, work: pathlib.Path) -> None:
    (work / "deb").mkdir()
    run("dpkg-deb", "--extract", one(dist, "*_arm64.deb"), work / "deb")
    places = {"aarch64 deb": work / "deb/usr/bin/tollgate", "aarch64 oci": unpacked_image(one(dist, "*-image-arm64.tar"), work / "root") / "usr/local/bin/tollgate"}
    for name, program in places.items():
        home = work / name
        home.mkdir()
        newcomer(name, lambda *words, program=program: ["qemu-aarch64-static", str(program), *words], home, str(home))


def unpacked_image(file: pathlib.Path, into: pathlib.Path) -> pathlib.Path:
    with tarfile.open(file) as archive:
        manifest = json.load(archive.extractfile("manifest.json"))
        into.mkdir()
        for layer in manifest[0]["Layers"]:
            with tarfile.open(fileobj=archive.extractfile(layer)) as content:
                content.extractall(into)
    return into


def one(dist: pathlib.Path, pattern: str) -> pathlib.Path:
    found = sorted(dist.glob(pattern))
    if len(found) != 1:
        raise Refused(f"{dist} has {len(found)} files {pattern}")
    return found[0]


def newcomer(name: str, command, folder: pathlib.Path, seen_as: str) -> None:
    """The README's first minute: `command` makes the words of a command from those behind `tollgate`; `folder` is where it works."""
    begin = time.monotonic()
    upstream, port = free_port(), free_port()
    address = f"http://127.0.0.1:{port}"
    secret = "a-secret-of-the-check"
    environment = {"PATH": os.environ["PATH"], "TYK_GW_SECRET": secret, "TYK_GW_APPPATH": f"{seen_as}/apps", "TOLLGATE_DATA_DIR": f"{seen_as}/data"}
    if not (folder / "apps").exists():
        (folder / "apps").mkdir()
        os.chown(folder / "apps", folder.stat().st_uid, folder.stat().st_gid)
    with started(command("mock", "--listen", f"127.0.0.1:{upstream}"), environment), started(command("run", "--listen-address", "127.0.0.1", "--port", str(port)), environment, folder):
        eventually(f"{name}: the gateway listens", lambda: status(f"{address}/hello") == 200)
        listening = time.monotonic()
        ask = ("--url", address)
        run(*command("apis", "add", "--listen-path", "/first/", "--target", f"http://127.0.0.1:{upstream}/", *ask), env=environment)
        key = run(*command("keys", "create", "--api", "first", "--quiet", *ask), env=environment).strip()
        answered = [status(f"{address}/first/json/valid", Authorization=key), status(f"{address}/first/json/valid"), status(f"{address}/tyk/console/")]
        if answered != [200, 401, 200]:
            raise Refused(f"{name}: with a key, without one, and the console: {answered}")
    end = time.monotonic()
    print(f"{name:<12} listens after {listening - begin:.1f} s; an API, a key, an answered request and the console after {end - begin:.1f} s")


@contextlib.contextmanager
def started(words: list[str], environment: dict[str, str], folder: pathlib.Path | None = None):
    """A process, and what it says if something goes wrong."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=folder, start_new_session=True)
        try:
            yield
        except Refused as refused:
            log.seek(0)
            raise Refused(f"{refused}\n{log.read()[-2000:]}") from refused
        finally:
            # With all that it has started: who changes the user does not end with the parent.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def status(url: str, **headers: str) -> int | None:
    """The status of an answer; None if nobody answers."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return None


def eventually(what: str, holds) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if holds():
            return
        time.sleep(0.05)
    raise Refused(f"never happened: {what}")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


KINDS = {kind.__name__: kind for kind in (deb, rpm, script, image, chart, aarch64)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--dist", type=pathlib.Path, default=source.ROOT / "dist")
    parser.add_argument("kind", nargs="*", choices=[[], *KINDS])
    options = parser.parse_args()
    failed = 0
    for kind in options.kind or KINDS:
        # Roots are removed by root alone, and by nothing that follows a mount.
        with tempfile.TemporaryDirectory(dir=source.tools()) as work:
            try:
                KINDS[kind](options.dist.resolve(), pathlib.Path(work))
            except Refused as refused:
                print(f"{kind}: failed: {refused}")
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
