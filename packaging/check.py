#!/usr/bin/env python3
"""Checks what dist.py makes of a program: the same bytes twice, packages and images with all their files, lists that others can read, and
an install script that refuses what was changed. Installs nothing.

Usage: check.py --program TOLLGATE. Exits with 77 if a tool is missing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

from release import source

PACKAGING = pathlib.Path(__file__).resolve().parent
# Written by the packages, read by users: what each of them must have.
SHARED = ["/usr/bin/tollgate", "/etc/tollgate/tyk.conf", "/etc/tollgate/environment", "/etc/logrotate.d/tollgate", "/usr/lib/sysusers.d/tollgate.conf",
          "/usr/share/man/man1/tollgate.1.gz", "/usr/share/man/man1/tollgate-run.1.gz", "/usr/share/bash-completion/completions/tollgate",
          "/usr/share/doc/tollgate/THIRD-PARTY-LICENSES.txt.gz", "/usr/share/doc/tollgate/examples/apps/hello.json"]
ONLY = {
    "deb": ["/lib/systemd/system/tollgate.service", "/lib/systemd/system/tollgate.socket", "/usr/share/doc/tollgate/copyright", "/usr/share/doc/tollgate/changelog.gz"],
    "rpm": ["/usr/lib/systemd/system/tollgate.service", "/usr/lib/systemd/system/tollgate.socket", "/usr/share/doc/tollgate/LICENSE"],
}


class Failed(Exception):
    """What is wrong, as it is printed."""


def expect(holds: bool, text: str) -> None:
    if not holds:
        raise Failed(text)


def run(*command: str | pathlib.Path, **options) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    expect(done.returncode == 0, f"{' '.join(map(str, command))[:200]}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def made(program: pathlib.Path, into: pathlib.Path, keys: pathlib.Path, **environment: str) -> pathlib.Path:
    run(PACKAGING / "dist.py", "--trial", "--quickly", "--program", program, "--into", into, "--public-key", keys / "public", "--secret-key", keys / "secret",
        env=os.environ | environment)
    return into


def same_bytes(one: pathlib.Path, other: pathlib.Path) -> None:
    """Two releases of one tree differ in nothing."""
    names = sorted(file.name for file in one.iterdir())
    expect(names == sorted(file.name for file in other.iterdir()), f"{names} differ")
    differ = [name for name in names if (one / name).read_bytes() != (other / name).read_bytes()]
    expect(not differ, f"these files differ: {differ}")


def sums(folder: pathlib.Path, keys: pathlib.Path) -> None:
    """Every file has its sum, and minisign accepts the signature."""
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=folder)
    named = {line.split("  ", 1)[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    there = {file.name for file in folder.iterdir()} - {"SHA256SUMS", "SHA256SUMS.minisig"}
    expect(named == there, f"SHA256SUMS names {named ^ there} or does not")
    run("minisign", "-V", "-p", keys / "public", "-m", folder / "SHA256SUMS")
    statement = json.loads(next(folder.glob("*.intoto.json")).read_text())
    for subject in statement["subject"]:
        expect(hashlib.sha256((folder / subject["name"]).read_bytes()).hexdigest() == subject["digest"]["sha256"], f"provenance of {subject['name']}")
    expect({subject["name"] for subject in statement["subject"]} == there - {next(folder.glob("*.intoto.json")).name}, "provenance names other files")


def packages(folder: pathlib.Path, program: pathlib.Path) -> None:
    """Both packages have all files, keep what the administrator changed, and hold the program itself."""
    deb, rpm = next(folder.glob("*.deb")), next(folder.glob("*.rpm"))
    listed = {"deb": [line.split()[5].lstrip(".") for line in run("dpkg-deb", "--contents", deb).splitlines()],
              "rpm": run("rpm", "--query", "--list", "--package", rpm).splitlines()}
    for kind, names in listed.items():
        missing = set(SHARED + ONLY[kind]) - set(names)
        expect(not missing, f"the {kind} lacks {sorted(missing)}")
    owners = {line.split()[1] for line in run("dpkg-deb", "--contents", deb).splitlines()}
    expect(owners == {"root/root"}, f"the deb has owners {owners}")
    kept = {"deb": run("dpkg-deb", "--info", deb, "conffiles"), "rpm": run("rpm", "--query", "--configfiles", "--package", rpm)}
    for kind, text in kept.items():
        expect(set(text.split()) == {name for name in SHARED if name.startswith("/etc/")}, f"the {kind} keeps {text.split()}")
    for script in ("postinst", "prerm", "postrm"):
        run("sh", "-n", "/dev/stdin", input=run("dpkg-deb", "--info", deb, script))
        run("sh", "-n", PACKAGING / "rpm" / script)
    run("rpm", "--checksig", rpm)
    with tempfile.TemporaryDirectory() as name:
        run("dpkg-deb", "--extract", deb, name)
        expect(pathlib.Path(name, "usr/bin/tollgate").read_bytes() == program.read_bytes(), "the deb holds another program")


def image(folder: pathlib.Path, program: pathlib.Path) -> None:
    """Each blob is what its name says, everything that is named is there, and the layer is a root of the program for a user that is not root."""
    with tarfile.open(next(folder.glob("*-image-*.tar"))) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
    for name, content in files.items():
        if name.startswith("blobs/sha256/"):
            expect(hashlib.sha256(content).hexdigest() == name.rpartition("/")[2], f"{name} has another sum")

    def named(descriptor: dict) -> bytes:
        content = files[f"blobs/{descriptor['digest'].replace(':', '/')}"]
        expect(len(content) == descriptor["size"], f"{descriptor} has {len(content)} bytes")
        return content

    expect(json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}, "oci-layout")
    (described,) = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(named(described))
    configuration, layer = json.loads(named(manifest["config"])), named(manifest["layers"][0])
    (older,) = json.loads(files["manifest.json"])
    expect({older["Config"], *older["Layers"]} <= set(files), "manifest.json names what is not there")
    expect(configuration["config"]["User"] == "65532:65532", "the image runs as root")
    with tempfile.TemporaryDirectory() as name:
        pathlib.Path(name, "layer").write_bytes(layer)
        with tarfile.open(pathlib.Path(name, "layer")) as archive:
            expect(archive.extractfile("usr/local/bin/tollgate").read() == program.read_bytes(), "the image holds another program")
            expect(archive.getmember("opt/tyk-gateway/data").uid == 65532, "the image's user cannot write data")


def lists(folder: pathlib.Path) -> None:
    """The bill of materials is a CycloneDX document that names what the program is made of; the notices have the texts."""
    file = next(folder.glob("*.cdx.json"))
    program = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
print(JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read()) or "valid")
"""
    verdict = run(source.tools() / "venv/bin/python", "-c", program, file)
    expect(verdict.strip() == "valid", verdict)
    bill = json.loads(file.read_text())
    names = {component["name"] for component in bill["components"]}
    for needed in ("tollgate-engine", "rustls", "rusqlite", "mimalloc", "preact"):
        expect(needed in names, f"the bill of materials lacks {needed}")
    expect("proptest" not in names, "the bill of materials has what only tests need")
    references = {component["bom-ref"] for component in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    expect(all({one["ref"], *one["dependsOn"]} <= references for one in bill["dependencies"]), "a dependency is no component")
    notices = next(folder.glob("*THIRD-PARTY-LICENSES.txt")).read_text()
    expect("Permission is hereby granted" in notices and "rustls " in notices and "preact" in notices, "the notices lack texts")


def installing(folder: pathlib.Path) -> None:
    """install.sh installs what is signed, with minisign and with OpenSSL alone, and refuses everything else."""
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        # A PATH without minisign: the script must get by with OpenSSL.
        bare = work / "bin"
        bare.mkdir()
        for tool in ("sh", "cat", "uname", "mktemp", "rm", "cp", "mv", "mkdir", "sed", "head", "tail", "cmp", "grep", "sha256sum", "tar", "gzip", "openssl"):
            (bare / tool).symlink_to(shutil.which(tool))
        paths = {"minisign": os.environ["PATH"], "OpenSSL": str(bare)}
        for checker, path in paths.items():
            prefix = work / checker
            run("/bin/sh", folder / "install.sh", "--from", folder, "--prefix", prefix, env={"PATH": path})
            expect(source.version() in run(prefix / "bin/tollgate", "version"), "the installed program does not run")
            expect((prefix / "share/man/man1/tollgate.1.gz").exists(), "there is no manual page")
        without = work / "without"
        shutil.copytree(bare, without, symlinks=True)
        (without / "openssl").unlink()
        refused(folder, {"PATH": str(without)}, "cannot be checked")
        (packed,) = folder.glob("*linux*.tar.gz")
        for checker, path in paths.items():
            changed = work / f"changed-{checker}"
            shutil.copytree(folder, changed)
            (changed / packed.name).write_bytes(packed.read_bytes() + b"\0")
            refused(changed, {"PATH": path}, "another sum")
            # A forged sum makes the archive fit; the signature gives it away.
            forged = hashlib.sha256((changed / packed.name).read_bytes()).hexdigest()
            written = (changed / "SHA256SUMS").read_text()
            (changed / "SHA256SUMS").write_text("".join(f"{forged}  {packed.name}\n" if packed.name in line else line + "\n" for line in written.splitlines()))
            refused(changed, {"PATH": path}, "signature of SHA256SUMS is wrong")
            # So does the signature of somebody else.
            run("minisign", "-G", "-W", "-f", "-p", work / "other.pub", "-s", work / "other")
            run("minisign", "-S", "-s", work / "other", "-m", changed / "SHA256SUMS")
            refused(changed, {"PATH": path}, "SHA256SUMS is")


def refused(folder: pathlib.Path, environment: dict[str, str], word: str) -> None:
    """install.sh says why it installs nothing."""
    with tempfile.TemporaryDirectory() as prefix:
        done = subprocess.run(["/bin/sh", folder / "install.sh", "--from", folder, "--prefix", prefix], capture_output=True, text=True, check=False, env=environment)
        expect(done.returncode == 1 and word in done.stderr, f"install.sh does not say {word!r}: {done.returncode} {done.stdout}{done.stderr}")
        expect(not list(pathlib.Path(prefix).iterdir()), "install.sh refuses, but has installed something")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    options = parser.parse_args()
    for tool in ("minisign", "rpm", "dpkg-deb", "openssl"):
        if shutil.which(tool) is None:
            print(f"{tool} is not installed")
            return 77
    if (source.tools() / "unavailable").exists():
        print((source.tools() / "unavailable").read_text())
        return 77
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        # Without debug information, which is most of a program that is built for tests.
        program = work / "tollgate"
        run("strip", "-o", program, options.program)
        keys = work / "keys"
        keys.mkdir()
        run("minisign", "-G", "-W", "-p", keys / "public", "-s", keys / "secret")
        try:
            one = made(program, work / "one", keys)
            # What differs between two machines: the mask of modes, the zone, the language, the place of temporary files.
            (work / "temporary").mkdir()
            previous = os.umask(0o077)
            other = made(program, work / "other", keys, TZ="Asia/Tokyo", LC_ALL="C", TMPDIR=str(work / "temporary"))
            os.umask(previous)
            same_bytes(one, other)
            shutil.rmtree(other)
            sums(one, keys)
            packages(one, program)
            image(one, program)
            lists(one)
            installing(one)
        except Failed as failed:
            print(f"failed: {failed}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
