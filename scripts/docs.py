#!/usr/bin/env python3
"""Builds the site of docs/: docs.py [--output SITE]

A site holds a folder for each version, `versions.json` for the selector, and an index that leads to the newest version. A build replaces the folder of
its own version and leaves the others: built from each tag into one SITE, the site has all of them. The version is the tag of the commit, or `next`.
A link that leads nowhere, an anchor that no heading has and a page that is not in the navigation fail the build."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CONFIGURATION = ROOT / "scripts/site/mkdocs.yml"
REQUIREMENTS = ROOT / "scripts/site/requirements.txt"
REPOSITORY = "https://github.com/tollgate-gateway/tollgate"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
UNRELEASED = "next"
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?\)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=TARGET / "site", metavar="SITE", help="the site's folder")
    site = parser.parse_args().output.resolve()
    tag = git_tag()
    version = tag.removeprefix("v") if tag else UNRELEASED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        broken = copy_pages(folder / "docs", tag or "main")
        if broken:
            sys.exit("\n".join(broken))
        shutil.copy(CONFIGURATION, folder / "mkdocs.yml")
        built = subprocess.run([generator(), "build", "--strict"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if built.returncode:
            # Its findings end in a trace of its own functions.
            sys.exit(built.stdout.partition("Traceback (most recent call last)")[0])
        # Nothing is left of pages that an earlier build of this version had.
        shutil.rmtree(site / version, ignore_errors=True)
        shutil.copytree(folder / "site", site / version)
    write_index(site)
    print(f"{site / version}/index.html")


def git_tag():
    """The tag of a release at this commit, or None."""
    described = subprocess.run(["git", "describe", "--tags", "--exact-match", "--match", "v*"], cwd=ROOT, capture_output=True, text=True)
    return described.stdout.strip() or None


def generator():
    """Zensical in an environment of its own, which is made again if what it needs has changed."""
    folder = TARGET / "docs-venv"
    wanted, stamp = REQUIREMENTS.read_text(), folder / "installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS], check=True)
        stamp.write_text(wanted)
    return folder / "bin/zensical"


def copy_pages(to, ref):
    """Copies docs/, with links out of it as links to the repository at `ref`; returns what is broken."""
    shutil.copytree(DOCS, to)
    broken = []
    for page in sorted(to.rglob("*.md")):
        source = DOCS / page.relative_to(to)
        page.write_text(rewritten(source.read_text(), source, ref, broken))
    return broken + unlisted()


def unlisted():
    """The pages that no reader of the navigation finds. The page of decisions is the list of all."""
    navigation = CONFIGURATION.read_text().partition("\nnav:\n")[2]
    decisions = (DOCS / "decisions/README.md").read_text()
    missing = []
    for page in sorted(DOCS.rglob("*.md")):
        name = str(page.relative_to(DOCS))
        decision = page.parent.name == "decisions" and page.name != "README.md"
        if (f"({page.name})" not in decisions) if decision else (f"- {name}\n" not in navigation):
            missing.append(f"{name}: not in {'decisions/README.md' if decision else CONFIGURATION.relative_to(ROOT)}")
    return missing


def rewritten(text, page, ref, broken):
    """A page whose links lead somewhere on the site too: those outside of fenced blocks."""
    def link(found):
        target, anchor = found[2], found[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        path = page.parent.joinpath(target).resolve()
        if not path.exists():
            broken.append(f"{page.relative_to(DOCS)}: {target} leads nowhere")
        if path.is_relative_to(DOCS):
            return f"{found[1]}{target.rstrip('/')}/README.md{anchor})" if path.is_dir() else found[0]
        kind = "tree" if path.is_dir() else "blob"
        return f"{found[1]}{REPOSITORY}/{kind}/{ref}/{os.path.relpath(path, ROOT)}{anchor})"

    lines, fenced = [], False
    for line in text.splitlines(keepends=True):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        lines.append(line if fenced or fence else LINK.sub(link, line))
    return "".join(lines)


def write_index(site):
    """Which versions there are, the newest release first and what is unreleased last, and the way to the first."""
    numbered = [folder.name for folder in site.iterdir() if re.fullmatch(r"\d+\.\d+\.\d+", folder.name)]
    versions = sorted(numbered, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    latest = versions[0] if versions else UNRELEASED
    versions += [UNRELEASED] if (site / UNRELEASED).is_dir() else []
    entries = [{"version": name, "title": name, "aliases": ["latest"] if name == latest else []} for name in versions]
    (site / "versions.json").write_text(json.dumps(entries, indent=1) + "\n")
    (site / "index.html").write_text(f'<!doctype html>\n<meta charset="utf-8">\n<title>Tollgate</title>\n'
                                     f'<meta http-equiv="refresh" content="0; url={latest}/index.html">\n<a href="{latest}/index.html">Tollgate {latest}</a>\n')


if __name__ == "__main__":
    main()
