"""The source maps of the console and the portal. They are made from the sources of this tree, and only if these give the bundles that are in
the program."""

from __future__ import annotations

import hashlib
import pathlib
import shutil

from . import source
from .archive import Entry
from .materials import CONSOLE
from .source import Refused, run


def source_maps() -> dict[str, Entry]:
    """The maps by their path in an archive, each beside the name of the bundle that it is of."""
    built = build()
    for file in sorted((CONSOLE / "dist").rglob("*")):
        if not file.is_file():
            continue
        name = file.relative_to(CONSOLE / "dist")
        if not (built / name).is_file() or (built / name).read_bytes() != file.read_bytes():
            raise Refused(f"{file} is not what {CONSOLE}/web gives; make web builds it")
    return {str(file.relative_to(built)): Entry(file.read_bytes()) for file in sorted(built.rglob("*.map"))}


def build() -> pathlib.Path:
    """Builds a copy of the sources, with the versions of the lock file, and returns the folder of what came out."""
    lock = hashlib.sha256((CONSOLE / "web/package-lock.json").read_bytes()).hexdigest()
    folder = source.tools() / "console"
    if not (folder / lock).exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(CONSOLE / "web" / name, folder)
        run("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", cwd=folder)
        (folder / lock).touch()
    web, built = folder / "web", folder / "built"
    for old in (web, built):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(CONSOLE / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    (web / "node_modules").symlink_to(folder / "node_modules")
    run("node", "build.mjs", built, cwd=web)
    return built
