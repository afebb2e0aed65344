"""Debian's and rpm's packages. Both have the same files; nfpm writes them from one description."""

from __future__ import annotations

import json
import pathlib
import tempfile
from email.utils import formatdate

from . import archive, source
from .archive import Entry
from .source import MACHINES, PACKAGING, ROOT, run

DEBIAN = PACKAGING / "debian"
KINDS = {"deb": "tollgate_{version}_{debian}.deb", "rpm": "tollgate-{version}-1.{machine}.rpm"}
# What the administrator may change, and upgrades keep.
CONFIGURATION = ["etc/tollgate/tyk.conf", "etc/tollgate/environment", "etc/logrotate.d/tollgate"]
# Debian's helper programs, and what rpm's scripts call in their place.
DEPENDS = {"deb": ["systemd | systemd-standalone-sysusers"], "rpm": ["systemd"]}
RECOMMENDS = {"deb": ["ca-certificates"], "rpm": ["ca-certificates"]}
SUGGESTS = {"deb": ["logrotate", "redis-server"], "rpm": ["logrotate"]}


def manual_and_completions(program: pathlib.Path) -> dict[str, Entry]:
    """What a program says about its own command line. Any machine's says the same, so the one that runs here is asked."""
    files = {
        "usr/share/bash-completion/completions/tollgate": Entry(run(program, "completions", "bash").encode()),
        "usr/share/zsh/vendor-completions/_tollgate": Entry(run(program, "completions", "zsh").encode()),
        "usr/share/fish/vendor_completions.d/tollgate.fish": Entry(run(program, "completions", "fish").encode()),
    }
    with tempfile.TemporaryDirectory() as folder:
        run(program, "man", folder)
        for page in pathlib.Path(folder).iterdir():
            files[f"usr/share/man/man1/{page.name}.gz"] = Entry(archive.compressed(page.read_bytes()))
    return files


def schemas(program: pathlib.Path) -> dict[str, Entry]:
    """The schemas of documents and the description of the control API."""
    names = ("api", "policy", "key", "config", "control-api")
    return {f"{name}.json": Entry(run(program, "schema", name).encode()) for name in names}


def files(kind: str, program: pathlib.Path, own: dict[str, Entry], notices: bytes) -> dict[str, Entry]:
    """The files of a package by path. `own` is what the program says about itself."""
    doc = "usr/share/doc/tollgate"
    systemd = PACKAGING / "systemd"
    found = {
        "usr/bin/tollgate": Entry(program.read_bytes(), 0o755),
        "usr/lib/sysusers.d/tollgate.conf": Entry((systemd / "tollgate.sysusers").read_bytes()),
        "etc/tollgate/tyk.conf": Entry((DEBIAN / "tyk.conf").read_bytes()),
        "etc/tollgate/environment": Entry((DEBIAN / "environment").read_bytes()),
        "etc/logrotate.d/tollgate": Entry((DEBIAN / "logrotate").read_bytes()),
        f"{doc}/CHANGELOG.md.gz": Entry(archive.compressed((ROOT / "CHANGELOG.md").read_bytes())),
        f"{doc}/THIRD-PARTY-LICENSES.txt.gz": Entry(archive.compressed(notices)),
        **own,
        **archive.of_folder(DEBIAN / "examples/apps", f"{doc}/examples/apps"),
    }
    # Debian 12 reads the units of packages in /lib, which is /usr/lib there.
    units = {"deb": "lib/systemd/system", "rpm": "usr/lib/systemd/system"}[kind]
    for unit in ("tollgate.service", "tollgate.socket"):
        found[f"{units}/{unit}"] = Entry((systemd / unit).read_bytes())
    if kind == "deb":
        found[f"{doc}/copyright"] = Entry((DEBIAN / "copyright").read_bytes())
        found[f"{doc}/README.Debian"] = Entry((DEBIAN / "README.Debian").read_bytes())
        found[f"{doc}/changelog.gz"] = Entry(archive.compressed(debian_changelog().encode()))
        found["usr/share/lintian/overrides/tollgate"] = Entry((DEBIAN / "lintian-overrides").read_bytes())
    else:
        found[f"{doc}/LICENSE"] = Entry((ROOT / "LICENSE").read_bytes())
        zsh = "usr/share/zsh/vendor-completions/_tollgate"
        found["usr/share/zsh/site-functions/_tollgate"] = found.pop(zsh)
    return found


def field(name: str) -> str:
    """A field of Debian's control file, which describes both packages."""
    lines = (DEBIAN / "control").read_text().splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(f"{name}: "))
    words = [lines[start].removeprefix(f"{name}: ")]
    for line in lines[start + 1 :]:
        if not line.startswith(" "):
            break
        words.append(line[1:] if line != " ." else "")
    return "\n".join(words)


def debian_changelog() -> str:
    version = source.version()
    time = formatdate(source.epoch(), usegmt=True).replace("GMT", "+0000")
    return f"tollgate ({version}) unstable; urgency=medium\n\n  * Version {version}. CHANGELOG.md lists what changed.\n\n -- {field('Maintainer')}  {time}\n"


def write(kind: str, machine: str, content: dict[str, Entry], into: pathlib.Path) -> pathlib.Path:
    """Writes a package, and returns its path."""
    names = {"version": source.version(), "machine": machine, **MACHINES[machine]}
    result = into / KINDS[kind].format(**names)
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder, "tree")
        listed = []
        for path, entry in sorted(content.items()):
            file = tree / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(entry.content)
            mode = {"mode": entry.mode, "owner": "root", "group": "root", "mtime": source.written_time()}
            listed.append({"src": str(file), "dst": f"/{path}", "file_info": mode} | ({"type": "config|noreplace"} if path in CONFIGURATION else {}))
        description = {
            "name": "tollgate",
            "arch": names["debian"],
            "platform": "linux",
            "version": names["version"],
            "version_schema": "none",
            "release": "1" if kind == "rpm" else "",
            "section": field("Section"),
            "priority": field("Priority"),
            "maintainer": field("Maintainer"),
            "description": field("Description"),
            "homepage": field("Homepage"),
            "license": "Apache-2.0",
            "vendor": "The Tollgate authors",
            "mtime": source.written_time(),
            "depends": DEPENDS[kind],
            "recommends": RECOMMENDS[kind],
            "suggests": SUGGESTS[kind],
            "contents": listed,
            "scripts": scripts(kind),
            "deb": {"compression": "xz" if archive.LEVEL == 9 else "none", "predepends": ["init-system-helpers (>= 1.54)"]},
            "rpm": {"compression": "xz" if archive.LEVEL == 9 else "gzip:1", "buildhost": "tollgate", "group": "System Environment/Daemons", "summary": field("Description").splitlines()[0]},
        }
        written = pathlib.Path(folder, "nfpm.yaml")
        written.write_text(json.dumps(description))
        run(source.tool("nfpm"), "package", "--config", written, "--packager", kind, "--target", result)
    return result


def scripts(kind: str) -> dict[str, str]:
    names = ("postinst", "prerm", "postrm")
    folder = {"deb": DEBIAN, "rpm": PACKAGING / "rpm"}[kind]
    return dict(zip(("postinstall", "preremove", "postremove"), (str(folder / name) for name in names)))
