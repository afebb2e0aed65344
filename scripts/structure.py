#!/usr/bin/env python3
"""The shape of the code: which modules import each other, and where the tree drifts.

Prints, for each crate, its modules, the cycles between sibling modules, its public items, and the type names that are declared more
than once in the workspace. `--check` exits with 1 when two sibling modules of one folder import each other, directly or through others,
in any crate. A child that uses its parent's file, and a parent that uses its child, are one module and no cycle. Test files do not count.
`--edges` adds to each cycle the few imports that close it, `--features N` how many files each of the last N commits that changed source
code touched.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A path that starts in the crate or beside the file, in code: `crate::keys::Key`, `super::table::Row`.
PATH = re.compile(r"\b(?:crate|super|self)(?:::[A-Za-z_]\w*)+")
USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);", re.M)
TYPE = re.compile(r"^\s*pub(?:\([^)]*\))? (?:struct|enum|trait|type|union) ([A-Z]\w*)|^(?:struct|enum|trait|type|union) ([A-Z]\w*)", re.M)
PUBLIC = re.compile(r"^\s*pub (?:const |static |async |unsafe )*(?:fn|struct|enum|trait|type|mod|use|const|static|union)\b", re.M)
COMMENT = re.compile(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"")


class Crate:
    """One crate: its files by module path, and which module path uses which."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.name = folder.name
        self.files = {module(folder / "src", path): path for path in sorted((folder / "src").rglob("*.rs")) if not is_test(path)}
        self.texts = {name: COMMENT.sub("", path.read_text()) for name, path in self.files.items()}
        self.names = {name: self.imported(name, text) for name, text in self.texts.items()}
        self.uses = {name: self.targets(name, text) - {name} for name, text in self.texts.items()}

    def imported(self, name: tuple[str, ...], text: str) -> dict[str, tuple[str, ...]]:
        """What a file has by `use`: each name with its path in the crate."""
        trees = [leaf for tree in USE.findall(text) for leaf in leaves(tree)]
        paths = [(leaf[-1], self.absolute(name, leaf)) for leaf in trees]
        return {last: path for last, path in paths if path and last not in ("self", "*")}

    def absolute(self, name: tuple[str, ...], path: list[str]) -> tuple[str, ...] | None:
        """A path from the crate's root; `None` when it belongs to another crate."""
        first, *rest = path
        if first == "crate":
            return tuple(rest)
        if first == "self" or name + (first,) in self.files:
            return name + tuple(rest if first == "self" else path)
        if first == "super":
            up = len(path) - len([part for part in path if part != "super"])
            return name[: len(name) - up] + tuple(path[up:])
        return None

    def targets(self, name: tuple[str, ...], text: str) -> set[tuple[str, ...]]:
        """The modules that a file names, each where it is declared and not where it is passed on."""
        named = [leaf for tree in USE.findall(text) for leaf in leaves(tree)]
        named += [match.split("::") for match in PATH.findall(USE.sub("", text))]
        paths = [self.absolute(name, path) for path in named]
        return {self.declared(path) for path in paths if path is not None}

    def declared(self, path: tuple[str, ...], depth: int = 0) -> tuple[str, ...]:
        """The file that declares what a path names: where another file passes it on, the one that it comes from."""
        file = self.nearest(path)
        passed_on = self.names.get(file, {}).get(path[len(file)]) if len(path) > len(file) else None
        if passed_on is None or passed_on == path or depth > 8:
            return file
        return self.declared(passed_on + path[len(file) + 1 :], depth + 1)

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

    def imports(self, parent: tuple[str, ...], source: str, target: str) -> list[str]:
        """The files below one sibling that name the other, and what they name of it."""
        found = []
        for name, targets in self.uses.items():
            if name[: len(parent) + 1] == (*parent, source):
                named = sorted("::".join(path) for path in targets if path[: len(parent) + 1] == (*parent, target))
                found.extend(f"{'::'.join(name)} -> {path}" for path in named)
        return found

    def closing(self, parent: tuple[str, ...], ring: list[str]) -> list[tuple[str, str, list[str]]]:
        """The imports against the order in which the fewest point upwards, as far as a greedy search finds it."""
        weights = {(a, b): self.imports(parent, a, b) for a in ring for b in ring if a != b}
        left, bottom = list(ring), []
        while left:
            # Next from below: what imports least of what is still above it, and is imported most.
            def rank(module: str) -> tuple[int, int]:
                upward = sum(len(weights[module, other]) for other in left if other != module)
                return upward, -sum(len(weights[other, module]) for other in left if other != module)

            bottom.append(min(left, key=rank))
            left.remove(bottom[-1])
        upward = [(a, b) for at, a in enumerate(bottom) for b in bottom[at + 1 :] if weights[a, b]]
        return [(a, b, weights[a, b]) for a, b in upward]

    def files_in(self, parent: tuple[str, ...], ring: list[str]) -> int:
        depth = len(parent)
        return sum(1 for name in self.files if len(name) > depth and name[:depth] == parent and name[depth] in ring)


def leaves(tree: str) -> list[list[str]]:
    """The paths of a `use`: `a::{b, c::D}` is a::b and a::c::D. Other names given by `as` are left out."""
    head, brace, inner = tree.strip().partition("{")
    prefix = [part.strip() for part in head.split("::") if part.strip()]
    if not brace:
        return [head.strip().split(" as ")[0].strip().split("::")]
    found, depth, start = [], 0, 0
    inner = inner.strip().removesuffix("}") + ","
    for at, letter in enumerate(inner):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            item = inner[start:at].strip()
            start = at + 1
            found.extend(prefix if leaf == ["self"] else prefix + leaf for leaf in (leaves(item) if item else []))
    return found


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
    """Where each name is declared that is declared more than once. A stub of a part that is left out has its names on purpose, and tests their own."""
    places = collections.defaultdict(list)
    for crate in crates:
        for name, text in crate.texts.items():
            if crate.name == "testing" or (name and name[-1].endswith("_absent")):
                continue
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
    parser.add_argument("--check", action="store_true", help="print only cycles where there must be none; exit with 1 when there are any")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, metavar="DIR", help="the workspace to look at")
    parser.add_argument("--edges", action="store_true", help="for each cycle, the imports that close it")
    parser.add_argument("--features", type=int, default=0, metavar="N", help="source files that each of the last N commits touched")
    args = parser.parse_args()
    crates = [Crate(folder) for folder in sorted((args.root / "crates").iterdir()) if (folder / "src").is_dir()]
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
        for source, target, imports in crate.closing(parent, ring) if args.edges or args.check else []:
            print(f"  {source} imports {target}: {'; '.join(imports)}")
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
