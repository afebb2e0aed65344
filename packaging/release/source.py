"""The source tree that a release is made from: its version, commit and time, and the tools that read it."""

from __future__ import annotations

import datetime
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGING = ROOT / "packaging"
REPOSITORY = "https://github.com/tollgate-gateway/tollgate"
# Names of machines: that of the kernel and of rpm, Debian's, that of images, Rust's target.
MACHINES = {
    "x86_64": {"debian": "amd64", "image": "amd64", "target": "x86_64-unknown-linux-musl"},
    "aarch64": {"debian": "arm64", "image": "arm64", "target": "aarch64-unknown-linux-musl"},
}


class Refused(Exception):
    """Why there is no release, as it is printed."""


def run(*command: str | pathlib.Path, shows_progress: bool = False, **options) -> str:
    """The output of a command that must succeed. What takes long shows what it says meanwhile."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=None if shows_progress else subprocess.PIPE, text=True, check=False, **options)
    except FileNotFoundError as missing:
        raise Refused(f"{words[0]} is not installed; scripts/test-deps.sh dist installs what a release needs") from missing
    if done.returncode:
        raise Refused(f"{' '.join(words[:4])} ...: exit code {done.returncode}\n{done.stdout}{done.stderr or ''}")
    return done.stdout


def target_directory() -> pathlib.Path:
    """Cargo's, where the tools are too."""
    return pathlib.Path(json.loads(cargo_metadata("--no-deps"))["target_directory"])


def tools() -> pathlib.Path:
    """Where scripts/test-deps.sh installs what Debian has not."""
    return target_directory() / "dist-tools"


def tool(name: str) -> str:
    """A program of the tools, or of the PATH."""
    for candidate in (tools() / name, tools() / "venv/bin" / name):
        if candidate.exists():
            return str(candidate)
    if found := shutil.which(name):
        return found
    raise Refused(f"{name} is not installed; scripts/test-deps.sh dist installs what a release needs")


@functools.cache
def cargo_metadata(*arguments: str) -> str:
    return run("cargo", "metadata", "--format-version=1", "--locked", *arguments, cwd=ROOT)


@functools.cache
def version() -> str:
    """The version of all crates; chart and image have the same."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


@functools.cache
def commit() -> str:
    return run("git", "rev-parse", "HEAD", cwd=ROOT).strip()


@functools.cache
def epoch() -> int:
    """The time of all files of a release: SOURCE_DATE_EPOCH, or that of the commit."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct", cwd=ROOT))


def written_time() -> str:
    """The same time as documents write it."""
    return datetime.datetime.fromtimestamp(epoch(), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def refuse_what_is_no_release() -> None:
    """A release is made of a clean tree, at the tag that says its version, and its chart and change log have the same version."""
    wanted = f"v{version()}"
    tags = run("git", "tag", "--points-at", "HEAD", cwd=ROOT).split()
    if wanted not in tags:
        raise Refused(f"the commit has the tags {tags}, but a release of version {version()} is made at the tag {wanted}")
    if changed := run("git", "status", "--porcelain", cwd=ROOT):
        raise Refused(f"the tree has changes that are not committed:\n{changed}")
    if f"## [{version()}]" not in (ROOT / "CHANGELOG.md").read_text():
        raise Refused(f"CHANGELOG.md has no section for {version()}")
