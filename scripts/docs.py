#!/usr/bin/env python3
"""Builds the documentation as a site: the README, the pages of docs/ and those beside the README, with search. Links to files that are no
pages lead to the repository, at the tag of the version. A link that leads nowhere fails the build.

Usage: docs.py [--into FOLDER] [--version NAME]
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/tollgate-gateway/tollgate"
PAGES = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASE.md", "SECURITY.md"]
# The menu: title, and the pages below it. A page of docs/ that is nowhere here fails the build.
MENU = {
    "Start": [f"docs/getting-started/{page}.md" for page in ("1-first-api", "2-first-key", "3-limits", "4-tls", "5-several-nodes", "6-production")],
    "APIs": ["authentication", "limits", "routes", "upstreams", "caching", "errors", "batches", "listeners", "acme", "openapi-definitions", "graphql", "data-graphs"],
    "Models and tools": ["llm", "mcp"],
    "Your own code": ["plugins", "javascript", "webassembly", "plugin-fields"],
    "Operation": ["configuration", "operations", "observability", "events", "console", "configuration-as-code", "kubernetes", "kubernetes-policies"],
    "Moving in": ["tyk-compatibility", "from-tyk-operator", "from-ingress-nginx"],
    "Measured": ["benchmarks"],
    "The project": ["releases", "RELEASE.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs/decisions/README.md"],
}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    parser.add_argument("--into", type=pathlib.Path, default=pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "docs", help="folder of the site; a folder for each version is made in it")
    parser.add_argument("--version", default=f"v{version}", help="the tag that links lead to, and the name of the folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pages = sorted(file.relative_to(ROOT) for file in (ROOT / "docs").rglob("*.md")) + [pathlib.Path(page) for page in PAGES]
        for page in pages:
            place = folder / "pages" / page
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(rewritten((ROOT / page).read_text(), page, set(pages), options.version))
        site = options.into.resolve() / options.version
        shutil.rmtree(site, ignore_errors=True)
        # JSON is YAML; only the function that makes anchors as the repository's pages have them is written in YAML's own way.
        written = json.dumps(settings(site, options.version, pages)).replace('"GITHUB"', "!!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}")
        (folder / "mkdocs.yml").write_text(written)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", folder / "mkdocs.yml"]
        if subprocess.run(command, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=False).returncode:
            return 1
    list_versions(options.into.resolve(), options.version)
    print(f"{site}/index.html")
    return 0


def rewritten(text: str, page: pathlib.Path, pages: set[pathlib.Path], version: str) -> str:
    """A page whose links to files that are no pages lead to the repository."""
    def link(found: re.Match) -> str:
        target, _, anchor = found[2].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        path = pathlib.Path(os.path.normpath(page.parent / target))
        if path in pages or not (ROOT / path).exists():
            return found[0]
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{found[1]}{REPOSITORY}/{kind}/{version}/{path}{'#' + anchor if anchor else ''}{found[3]}"

    return LINK.sub(link, text)


def settings(site: pathlib.Path, version: str, pages: list[pathlib.Path]) -> dict:
    menu = [{title: [page if page.endswith(".md") else f"docs/{page}.md" for page in below]} for title, below in MENU.items()]
    listed = {page for entry in menu for below in entry.values() for page in below}
    lost = [str(page) for page in pages if str(page) not in listed | {"README.md", "docs/README.md"} and page.parent.name != "decisions"]
    if lost:
        sys.exit(f"docs.py: the menu has no place for {', '.join(lost)}")
    palette = [{"media": f"(prefers-color-scheme: {name})", "scheme": scheme, "primary": "indigo",
                "toggle": {"icon": "material/brightness-6", "name": f"Switch to {other}"}} for name, scheme, other in (("light", "default", "dark"), ("dark", "slate", "light"))]
    return {
        "site_name": f"Tollgate {version.removeprefix('v')}",
        "repo_url": REPOSITORY,
        "docs_dir": "pages",
        "site_dir": str(site),
        "nav": [{"Tollgate": "README.md"}, *menu],
        "use_directory_urls": False,
        "theme": {"name": "material", "font": False, "palette": palette, "features": ["navigation.tabs", "navigation.top", "search.highlight", "content.code.copy", "toc.follow"]},
        "plugins": ["search"],
        "markdown_extensions": ["tables", "footnotes", "attr_list", {"toc": {"permalink": True, "slugify": "GITHUB"}}, "pymdownx.superfences", "pymdownx.highlight"],
        "validation": {"omitted_files": "ignore", "not_found": "warn", "absolute_links": "warn", "anchors": "warn", "unrecognized_links": "warn"},
    }


def list_versions(folder: pathlib.Path, newest: str) -> None:
    """The page that leads to the newest version, and names all that are there."""
    names = sorted((one.name for one in folder.iterdir() if one.is_dir()), reverse=True)
    links = "".join(f'<li><a href="{name}/index.html">{name}</a></li>' for name in names)
    head = f'<!doctype html><meta charset="utf-8"><title>Tollgate</title><meta http-equiv="refresh" content="0; url={newest}/index.html">'
    (folder / "index.html").write_text(f"{head}<ul>{links}</ul>\n")


if __name__ == "__main__":
    sys.exit(main())
