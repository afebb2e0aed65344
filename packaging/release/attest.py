"""What lets others trust a release: where each file comes from, the sums of all files, and a signature of the sums."""

from __future__ import annotations

import hashlib
import json
import pathlib
import platform

from . import source
from .source import REPOSITORY, Refused, run

SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.minisig"


def sum_of(file: pathlib.Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def provenance(into: pathlib.Path, profile: str) -> pathlib.Path:
    """A statement of in-toto with the provenance of SLSA: which sources and tools made which files. It names no time and no machine: the
    next who builds the tag gets the same statement."""
    subjects = [{"name": file.name, "digest": {"sha256": sum_of(file)}} for file in sorted(into.iterdir())]
    rust = run("rustc", "--version", "--verbose")
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{REPOSITORY}/blob/v{source.version()}/RELEASE.md",
                "externalParameters": {"ref": f"refs/tags/v{source.version()}", "profile": profile},
                "internalParameters": {"SOURCE_DATE_EPOCH": source.epoch(), "python": platform.python_version()},
                "resolvedDependencies": [
                    {"uri": f"git+{REPOSITORY}@refs/tags/v{source.version()}", "digest": {"gitCommit": source.commit()}},
                    {"uri": "file:Cargo.lock", "digest": {"sha256": sum_of(source.ROOT / "Cargo.lock")}},
                    {"uri": "pkg:generic/rustc@" + rust.split()[1], "digest": {"gitCommit": field(rust, "commit-hash")}},
                ],
            },
            "runDetails": {"builder": {"id": f"{REPOSITORY}/blob/v{source.version()}/packaging/dist.py"}},
        },
    }
    result = into / f"tollgate-{source.version()}.intoto.json"
    result.write_text(json.dumps(statement, indent=1, sort_keys=True) + "\n")
    return result


def field(text: str, name: str) -> str:
    return next(line.split(": ", 1)[1] for line in text.splitlines() if line.startswith(f"{name}: "))


def write_sums(into: pathlib.Path) -> pathlib.Path:
    """The sums of all files, as sha256sum writes and reads them."""
    result = into / SUMS
    files = sorted(file for file in into.iterdir() if file.name not in (SUMS, SIGNATURE))
    result.write_text("".join(f"{sum_of(file)}  {file.name}\n" for file in files))
    return result


def sign(sums: pathlib.Path, secret_key: pathlib.Path, public_key: str) -> pathlib.Path:
    """Signs the sums with minisign. Both comments are fixed, so that the same sums have the same signature. The password of the key is
    read from the terminal, if it has one."""
    signature = sums.with_name(SIGNATURE)
    done = ["-S", "-s", secret_key, "-m", sums, "-x", signature, "-t", f"tollgate {source.version()}", "-c", "signature of the sums of a release of Tollgate"]
    run(source.tool("minisign"), *done, stdin=None)
    run(source.tool("minisign"), "-V", "-q", "-P", public_key, "-m", sums, "-x", signature)
    return signature


def public_key(file: pathlib.Path) -> str:
    """The line of a public key file of minisign that is the key."""
    lines = [line.strip() for line in file.read_text().splitlines() if line.strip() and not line.startswith("untrusted comment:")]
    if len(lines) != 1 or len(lines[0]) != 56 or not lines[0].startswith("RW"):
        raise Refused(f"{file} is no public key of minisign")
    return lines[0]
