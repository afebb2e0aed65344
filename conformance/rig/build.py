"""The programs of the rig, built from this folder's Go modules into the cache. A program is built again only if its sources change."""

import hashlib
import json
import os
import pathlib
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-trimpath", "-ldflags=-s -w"]
# Each is one program: the folder of its module, the folders whose files it is made of, and the command that builds it.
PROGRAMS = {
    "cluster": ("cluster", ["cluster"], ["build", *FLAGS, "."]),
    "kubelet": (".", ["kubelet"], ["build", *FLAGS, "./kubelet"]),
    "suite": (".", ["suite"], ["test", "-c", *FLAGS, "./suite"]),
    "echo-basic": (".", [], ["build", *FLAGS, "sigs.k8s.io/gateway-api-conformance-images/echo-basic"]),
    "coredns": (".", ["dns"], ["build", *FLAGS, "./dns"]),
    "load": (".", ["load"], ["build", *FLAGS, "./load"]),
}


def cache():
    chosen = os.environ.get("TOLLGATE_CONFORMANCE_CACHE")
    return pathlib.Path(chosen) if chosen else pathlib.Path.home() / ".cache/tollgate-conformance"


def build(say):
    """Builds what is missing or out of date. The programs are static: the pods' root directories hold nothing else."""
    programs = cache() / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    for name, (module, folders, command) in PROGRAMS.items():
        stamp = programs / f"{name}.stamp"
        wanted = fingerprint(module, folders, command)
        if (programs / name).exists() and stamp.exists() and stamp.read_text() == wanted:
            continue
        say(f"building {name}" + (" (the first time takes some minutes)" if name == "cluster" else ""))
        stamp.unlink(missing_ok=True)
        verb, *rest = command
        go([verb, "-o", programs / name, *rest], module)
        stamp.write_text(wanted)
    return programs


def go(arguments, module, **options):
    """Runs Go in the folder of a module, with the version of Go that the module asks for."""
    variables = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "auto"}
    return subprocess.run(["go", *arguments], cwd=FOLDER / module, env=variables, check=True, **options)


def fingerprint(module, folders, command):
    digest = hashlib.sha256(repr(command).encode())
    digest.update(go(["version"], module, capture_output=True).stdout)
    files = [FOLDER / module / "go.mod", FOLDER / module / "go.sum"]
    for folder in folders:
        files += sorted((FOLDER / folder).glob("*.go"))
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def definitions(channel):
    """The files of the Gateway API's resource definitions, from the module of the version that the suite tests."""
    module = json.loads(go(["mod", "download", "-json", "sigs.k8s.io/gateway-api"], ".", capture_output=True).stdout)
    return sorted(pathlib.Path(module["Dir"], "config/crd", channel).glob("gateway.networking*.yaml"))
