#!/usr/bin/env python3
"""The shape of the code: which modules import each other, and where the tree drifts.

Prints, for each crate, its modules, the cycles between sibling modules, its public items, and the type names that are declared more
than once in the workspace. `--check` exits with 1 when two sibling modules of one folder import each other, directly or through others.
A child that uses its parent's file, and a parent that uses its child, are one module and no cycle. Test files do not count.
`--features N` adds how many files each of the last N commits that changed source code touched.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A path that starts in the crate or beside the file: `crate::keys::Key`, `super::table::{Table, Row}`.
PATH = re.compile(r"\b(crate|super(?:::super)*|self)((?:::[a-z_][a-z0-9_]*)+)?(::\{)?")
TYPE = re.compile(r"^\s*pub(?:\([^)]*\))? (?:struct|enum|trait|type|union) ([A-Z]\w*)|^(?:struct|enum|trait|type|union) ([A-Z]\w*)", re.M)
PUBLIC = re.compile(r"^\s*pub (?:const |static |async |unsafe )*(?:fn|struct|enum|trait|type|mod|use|const|static|union)\b", re.M)
COMMENT = re.compile(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"")


class Crate:
    """One crate: its files by module path, and which module path uses which."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.name = folder.name
        self.files = {module(folder / "src", path): path for path in sorted((folder / "src").rglob("*.rs")) if not is_test(path)}
        self.texts = {name: COMMENT.sub("", path.read_text()) for name, path in self.files.items()}
        self.uses = {name: self.targets(name, text) - {name} for name, text in self.texts.items()}

    def targets(self, name: tuple[str, ...], text: str) -> set[tuple[str, ...]]:
        """The modules that a file names."""
        found = set()
        for start, tail, brace in (match.groups() for match in PATH.finditer(text)):
            base = () if start == "crate" else name if start == "self" else name[: len(name) - start.count("super")]
            path = base + tuple((tail or "").split("::")[1:])
            heads = self.grouped(path, text) if brace and start != "self" else []
            found.update(self.nearest(head) for head in heads or [path])
        return found

    def children(self, path: tuple[str, ...]) -> list[str]:
        return [name[-1] for name in self.files if name[:-1] == path and name]

    def grouped(self, path: tuple[str, ...], text: str) -> list[tuple[str, ...]]:
        """`use crate::{a, b::C}`: the modules inside the braces that follow this path."""
        prefix = "::".join(path) if path else "crate"
        inside = " ".join(re.findall(re.escape(prefix.split("::")[-1]) + r"::\{([^;]*)\}", text))
        return [path + (child,) for child in self.children(path) if re.search(rf"\b{child}\b", inside)]

    def nearest(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """The file that holds a path: the longest prefix that is a file."""
        while path and path not in self.files:
            path = path[:-1]
        return path

    def cycles(self) -> list[tuple[tuple[str, ...], list[str]]]:
        """(folder, siblings) for each set of sibling modules that import each other."""
        found = []
        for parent in sorted({name[:depth] for name in self.files for depth in range(len(name))}):
            depth = len(parent)
            edges: dict[str, set[str]] = collections.defaultdict(set)
            for name, targets in self.uses.items():
                if name[:depth] != parent or len(name) == depth:
                    continue
                for target in targets:
                    if target[:depth] == parent and len(target) > depth and target[depth] != name[depth]:
                        edges[name[depth]].add(target[depth])
            found.extend((parent, sorted(ring)) for ring in rings(edges))
        return found

    def files_in(self, parent: tuple[str, ...], ring: list[str]) -> int:
        depth = len(parent)
        return sum(1 for name in self.files if len(name) > depth and name[:depth] == parent and name[depth] in ring)


def is_test(path: pathlib.Path) -> bool:
    return path.stem in ("tests", "invariants", "simulation") or "tests" in path.parts


def module(source: pathlib.Path, path: pathlib.Path) -> tuple[str, ...]:
    parts = path.relative_to(source).with_suffix("").parts
    return () if parts in (("lib",), ("main",)) else parts[:-1] if parts[-1] == "mod" else parts


def rings(edges: dict[str, set[str]]) -> list[set[str]]:
    """Sets of nodes that reach each other (Tarjan), the largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(edges.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            ring = set()
            while True:
                ring.add(stack.pop())
                if node in ring:
                    break
            if len(ring) > 1:
                found.append(ring)

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)


def repeated_types(crates: list[Crate]) -> dict[str, list[str]]:
    places = collections.defaultdict(list)
    for crate in crates:
        for name, text in crate.texts.items():
            for public, private in TYPE.findall(text):
                places[public or private].append("::".join((crate.name, *name)))
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def touched(commits: int) -> list[tuple[int, str]]:
    """(source files, subject) of the last commits that changed more than documents."""
    log = subprocess.run(["git", "-C", ROOT, "log", "--no-merges", "--name-only", "--format=%x00%s"], capture_output=True, text=True, check=True)
    found = []
    for entry in log.stdout.split("\0")[1:]:
        subject, *names = [line for line in entry.splitlines() if line]
        sources = [name for name in names if name.endswith(".rs") and not is_test(pathlib.Path(name))]
        if sources:
            found.append((len(sources), subject))
        if len(found) == commits:
            break
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="print only the cycles; exit with 1 when there are any")
    parser.add_argument("--features", type=int, default=0, metavar="N", help="source files that each of the last N commits touched")
    args = parser.parse_args()
    crates = [Crate(folder) for folder in sorted((ROOT / "crates").iterdir()) if (folder / "src").is_dir()]
    cycles = [(crate, parent, ring) for crate in crates for parent, ring in crate.cycles()]
    if not args.check:
        print(f"{'crate':10} {'files':>6} {'modules at the top':>19} {'public items':>13} {'files in cycles':>16}")
        for crate in crates:
            top = len({name[0] for name in crate.files if name})
            public = sum(len(PUBLIC.findall(text)) for text in crate.texts.values())
            caught = sum(crate.files_in(parent, ring) for owner, parent, ring in cycles if owner is crate and not parent)
            print(f"{crate.name:10} {len(crate.files):6} {top:19} {public:13} {caught:16}")
    for crate, parent, ring in cycles:
        print(f"cycle in {'::'.join((crate.name, *parent))}: {', '.join(ring)} ({crate.files_in(parent, ring)} files)")
    if args.check:
        return 1 if cycles else 0
    names = repeated_types(crates)
    print(f"type names declared more than once: {len(names)}")
    for name, where in sorted(names.items(), key=lambda item: -len(item[1])):
        print(f"  {name} x {len(where)}: {', '.join(where)}")
    for files, subject in touched(args.features):
        print(f"{files:4} files: {subject}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
