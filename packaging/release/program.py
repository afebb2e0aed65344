"""The programs of a release: static, for each machine, the same bytes wherever the tree is."""

from __future__ import annotations

import os
import pathlib
import struct

from . import source
from .source import MACHINES, Refused, run

ELF_MACHINES = {62: "x86_64", 183: "aarch64"}
INTERPRETER = 3


def build(machine: str, profile: str, key: str) -> pathlib.Path:
    """Builds the program with zig as C compiler and linker, which brings the C library of either machine."""
    target = MACHINES[machine]["target"]
    # Paths of this machine are not part of the program, and neither is anything that differs between two builds.
    cargo_home = os.environ.get("CARGO_HOME", str(pathlib.Path.home() / ".cargo"))
    sysroot = run("rustc", "--print", "sysroot").strip()
    remapped = {str(source.target_directory()): "/target", str(source.ROOT): "/tollgate", cargo_home: "/cargo", sysroot: "/rust"}
    flags = [f"--remap-path-prefix={path}={name}" for path, name in remapped.items()] + ["-Ctarget-feature=+crt-static", "-Cstrip=symbols", "-Clink-arg=-Wl,--build-id=none"]
    environment = os.environ | {
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
        "CARGO_ZIGBUILD_ZIG_PATH": str(zig("zig")),
        # Some crates build C code with a script that knows nothing of targets, and takes the compiler of this system otherwise.
        **{name: str(zig(f"{machine}-{tool}", tool, *(["-target", f"{machine}-linux-musl"] if tool in ("cc", "c++") else [])))
           for name, tool in (("CC", "cc"), ("CXX", "c++"), ("AR", "ar"), ("RANLIB", "ranlib"))},
        "HOST_CC": "cc", "HOST_CXX": "c++", "HOST_AR": "ar", "HOST_RANLIB": "ranlib",
        # Such a script links a shared library too, which nothing uses, and whose list of symbols is longer than the library.
        "LDFLAGS": "-Wl,--undefined-version",
        "CARGO_INCREMENTAL": "0",
        "CFLAGS": " ".join(f"-ffile-prefix-map={path}={name}" for path, name in remapped.items()),
        "SOURCE_DATE_EPOCH": str(source.epoch()),
        "TOLLGATE_RELEASE_KEY": key,
    }
    environment["CXXFLAGS"] = environment["CFLAGS"]
    run("rustup", "target", "add", target)
    command = ["cargo", "zigbuild", "--locked", "--profile", profile, "--package", "tollgate-gateway", "--bin", "tollgate", "--target", target]
    run(*command, shows_progress=True, cwd=source.ROOT, env=environment | {"PATH": f"{source.tools()}/venv/bin:{environment['PATH']}"})
    return source.target_directory() / target / profile / "tollgate"


def zig(name: str, *words: str) -> pathlib.Path:
    """A program of this name that is zig with these words: its Python package has none."""
    wrapper = source.tools() / name
    wrapper.write_text(" ".join(["#!/bin/sh\nexec", f'"{source.tools()}/venv/bin/python" -m ziglang', *words, '"$@"\n']))
    wrapper.chmod(0o755)
    return wrapper


def machine_of(program: pathlib.Path, may_be_dynamic: bool) -> str:
    """The machine that a program runs on. It must need no C library of its system."""
    data = program.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise Refused(f"{program} is no program of Linux for 64 bits")
    (number,) = struct.unpack_from("<H", data, 18)
    if number not in ELF_MACHINES:
        raise Refused(f"{program} is for another machine than {', '.join(MACHINES)}")
    (table,), (size, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    kinds = [struct.unpack_from("<I", data, table + index * size)[0] for index in range(count)]
    if INTERPRETER in kinds and not may_be_dynamic:
        raise Refused(f"{program} needs the C library of its system; a release is static")
    return ELF_MACHINES[number]
