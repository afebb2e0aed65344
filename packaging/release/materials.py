"""What a program is made of: the crates of the lock file that its default features need, and the packages of the console. As a CycloneDX
document for programs, and as the texts of their licences for people."""

from __future__ import annotations

import functools
import hashlib
import json
import pathlib
import re
import tomllib
import uuid

from . import source
from .source import MACHINES, REPOSITORY, ROOT

LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|notice|unlicense|copyright)", re.I)
CONSOLE = ROOT / "crates/console"


@functools.cache
def crates() -> dict[str, dict]:
    """The crates by Cargo's id, ours too, each with the ids of those that it needs. Crates of tests and of other systems are not there."""
    packages, needs = {}, {}
    for machine in MACHINES.values():
        metadata = json.loads(source.cargo_metadata("--filter-platform", machine["target"]))
        known = {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        waiting = [identity for identity, package in known.items() if package["name"] == "tollgate-gateway"]
        seen = set()
        while waiting:
            identity = waiting.pop()
            if identity in seen:
                continue
            seen.add(identity)
            packages[identity] = known[identity]
            wanted = [one["pkg"] for one in nodes[identity]["deps"] if any(kind["kind"] != "dev" for kind in one["dep_kinds"])]
            needs.setdefault(identity, set()).update(wanted)
            waiting += wanted
    return {identity: package | {"needs": sorted(needs[identity])} for identity, package in sorted(packages.items())}


@functools.cache
def sums() -> dict[tuple[str, str], str]:
    """The sums of the crates' archives, by name and version."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {(package["name"], package["version"]): package["checksum"] for package in lock["package"] if "checksum" in package}


def console_packages() -> list[tuple[str, str, str]]:
    """Name, version and licence of the packages whose code is in the console."""
    lock = json.loads((CONSOLE / "web/package-lock.json").read_text())["packages"]
    bundled = re.findall(r"^(\S+) (\d\S*)\n\n", (CONSOLE / "dist/licences.txt").read_text(), re.M)
    return sorted((name, version, lock.get(f"node_modules/{name}", {}).get("license", "MIT")) for name, version in bundled)


def bill() -> bytes:
    """The bill of materials, CycloneDX 1.5."""
    found = crates()
    references = {identity: reference(package) for identity, package in found.items()}
    (own,) = (identity for identity, package in found.items() if package["name"] == "tollgate-gateway")
    components = [component(package, references[identity]) for identity, package in found.items() if identity != own]
    console = []
    for name, version, licence in console_packages():
        url = f"pkg:npm/{name.replace('@', '%40')}@{version}"
        console.append(url)
        components.append({"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url, "licenses": [{"expression": licence}]})
    depends = [{"ref": references[identity], "dependsOn": sorted({references[need] for need in package["needs"]})} for identity, package in found.items()]
    for entry in depends:
        if entry["ref"].startswith("pkg:cargo/tollgate-console@"):
            entry["dependsOn"] = sorted({*entry["dependsOn"], *console})
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": source.written_time(),
            "component": component(found[own], references[own]) | {"type": "application", "name": "tollgate"},
        },
        "components": sorted(components, key=lambda one: one["bom-ref"]),
        "dependencies": sorted(depends, key=lambda one: one["ref"]) + [{"ref": url, "dependsOn": []} for url in console],
    }
    # The serial number is that of the contents.
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).digest()
    document["serialNumber"] = f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=5)}"
    return (json.dumps(document, indent=1) + "\n").encode()


def reference(package: dict) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package: dict, name: str) -> dict:
    """A crate as a component."""
    described = {"type": "library", "bom-ref": name, "name": package["name"], "version": package["version"], "purl": name}
    if package["license"]:
        # Older crates separate licences by a slash, which is no expression of SPDX.
        described["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    if checksum := sums().get((package["name"], package["version"])):
        described["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if url := package.get("repository"):
        described["externalReferences"] = [{"type": "vcs", "url": url if url.startswith("http") else REPOSITORY}]
    return described


def notices() -> bytes:
    """The texts of the licences of everything in the program that is not ours, each text once."""
    by_text: dict[str, list[str]] = {}
    for package in crates().values():
        if package["source"] is None:
            continue
        name = f"{package['name']} {package['version']} ({package['license'] or 'see the text'})"
        folder = pathlib.Path(package["manifest_path"]).parent
        texts = [file.read_text(errors="replace").strip() for file in sorted(folder.iterdir()) if LICENCE_FILE.match(file.name) and file.is_file()]
        for text in texts or [f"The crate has no file with its licence; its manifest states {package['license']}."]:
            by_text.setdefault("\n".join(line.rstrip() for line in text.splitlines()), []).append(name)
    rule = "\n\n" + "=" * 100 + "\n\n"
    parts = ["Tollgate contains the following software. Each text is that of the packages named above it."]
    for text, names in sorted(by_text.items(), key=lambda item: item[1]):
        parts.append("\n".join(sorted(set(names))) + "\n\n" + text)
    parts.append("In the console:\n\n" + (CONSOLE / "dist/licences.txt").read_text().strip())
    return (rule.join(parts) + "\n").encode()
