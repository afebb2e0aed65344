#!/usr/bin/env python3
"""Makes all files of a release from the tree at its tag: programs, archives, packages, images, the chart, schemas, the bill of
materials, licences, provenance, sums and their signature. The same tree gives the same bytes. RELEASE.md says how a release is made.

Usage: dist.py --public-key FILE --secret-key FILE            a release
       dist.py --trial [--program TOLLGATE]...                what packaging does with programs that are there; no release
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import shutil
import sys

from release import archive, attest, console, image, materials, package, program, source
from release.archive import Entry
from release.source import MACHINES, PACKAGING, ROOT, Refused


def main() -> int:
    options = parse()
    try:
        make(options)
    except Refused as refused:
        print(f"dist: {refused}", file=sys.stderr)
        return 1
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--into", type=pathlib.Path, default=ROOT / "dist", help="folder of the files; it is emptied")
    parser.add_argument("--public-key", type=pathlib.Path, help="public key of minisign, which the programs and install.sh contain")
    parser.add_argument("--secret-key", type=pathlib.Path, help="secret key of minisign, with which the sums are signed")
    parser.add_argument("--machine", choices=MACHINES, action="append", help="only for this machine; may be repeated [default: all]")
    parser.add_argument("--trial", action="store_true", help="not at a tag, not signed unless there are keys, programs may need a C library")
    parser.add_argument("--program", type=pathlib.Path, action="append", default=[], help="with --trial: package this program instead of building; may be repeated")
    parser.add_argument("--profile", default="release", help="with --trial: profile of Cargo")
    parser.add_argument("--quickly", action="store_true", help="with --trial: compress little")
    options = parser.parse_args()
    if not options.trial and (options.program or options.quickly or options.profile != "release" or not options.public_key or not options.secret_key):
        parser.error("a release is built by the profile release and signed: it takes --public-key and --secret-key, and no option of trials")
    return options


def make(options: argparse.Namespace) -> None:
    if options.quickly:
        archive.LEVEL = 1
    if not options.trial:
        source.refuse_what_is_no_release()
    key = attest.public_key(options.public_key) if options.public_key else ""
    programs = {}
    for file in options.program:
        programs[program.machine_of(file, may_be_dynamic=True)] = file.resolve()
    for machine in options.machine or ([] if options.program else MACHINES):
        if machine not in programs:
            say(f"building the program for {machine}")
            programs[machine] = program.build(machine, options.profile, key)
            program.machine_of(programs[machine], options.trial)
    if os.uname().machine not in programs:
        raise Refused(f"pages and schemas are written by the program of this machine: name one for {platform.machine()} too")
    into = options.into.resolve()
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    write_all(programs, key, into)
    attest.provenance(into, options.profile)
    sums = attest.write_sums(into)
    if options.secret_key:
        attest.sign(sums, options.secret_key, key)
    for line in sums.read_text().splitlines():
        print(line)


def write_all(programs: dict[str, pathlib.Path], key: str, into: pathlib.Path) -> None:
    here = programs[os.uname().machine]
    said = source.run(here, "version").split()
    if said[1] != source.version():
        raise Refused(f"{here} has version {said[1]}, Cargo.toml {source.version()}")
    version = f"tollgate-{source.version()}"
    own, schemas, notices = package.manual_and_completions(here), package.schemas(here), materials.notices()
    for machine, file in sorted(programs.items()):
        say(f"packaging for {machine}")
        # The bare program is there too: its sum is that of the file in all packages, and install.sh needs no archive.
        (into / f"{version}-linux-{machine}").write_bytes(file.read_bytes())
        packed = archive.tar(portable(f"{version}-linux-{machine}", file, own, schemas, notices))
        (into / f"{version}-linux-{machine}.tar.gz").write_bytes(archive.compressed(packed))
        for kind in package.KINDS:
            package.write(kind, machine, package.files(kind, file, own, notices), into)
        image.write(machine, image.root_files(file, notices), into)
    write_chart(into)
    (into / f"{version}-schemas.tar.gz").write_bytes(archive.compressed(archive.tar({f"{version}-schemas/{name}": entry for name, entry in schemas.items()})))
    (into / f"{version}-console-source-maps.tar.gz").write_bytes(archive.compressed(archive.tar({f"{version}-console-source-maps/{name}": entry for name, entry in console.source_maps().items()})))
    (into / f"{version}.cdx.json").write_bytes(materials.bill())
    (into / f"{version}-THIRD-PARTY-LICENSES.txt").write_bytes(notices)
    script = (PACKAGING / "install.sh").read_text().replace("@VERSION@", source.version()).replace("@PUBLIC_KEY@", key)
    (into / "install.sh").write_text(script)
    if key:
        (into / "tollgate.pub").write_text(f"untrusted comment: minisign public key of Tollgate\n{key}\n")


def portable(folder: str, file: pathlib.Path, own: dict[str, Entry], schemas: dict[str, Entry], notices: bytes) -> dict[str, Entry]:
    """The archive for any system: the program, and what belongs beside it."""
    files = {"bin/tollgate": Entry(file.read_bytes(), 0o755), "THIRD-PARTY-LICENSES.txt": Entry(notices)}
    files |= {path.removeprefix("usr/"): entry for path, entry in own.items()}
    files |= {f"share/tollgate/schemas/{name}": entry for name, entry in schemas.items()}
    files |= archive.of_folder(PACKAGING / "systemd", "share/tollgate/systemd")
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"):
        files[name] = Entry((ROOT / name).read_bytes())
    return {f"{folder}/{path}": entry for path, entry in files.items()}


def write_chart(into: pathlib.Path) -> None:
    """The chart as helm packages it, without the values that only checks use."""
    folder = ROOT / "deploy/helm/tollgate"
    if f"\nversion: {source.version()}\n" not in (folder / "Chart.yaml").read_text():
        raise Refused(f"{folder}/Chart.yaml has another version than {source.version()}")
    files = {path: entry for path, entry in archive.of_folder(folder, "tollgate").items() if not path.startswith("tollgate/ci/")}
    (into / f"tollgate-{source.version()}-chart.tgz").write_bytes(archive.compressed(archive.tar(files)))


def say(text: str) -> None:
    print(f"dist: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
