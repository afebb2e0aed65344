"""LiteLLM's proxy, as it runs beside Tollgate."""

from __future__ import annotations

import json
import pathlib
import subprocess

from rig import HOST, Rig, Server

ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOG": "ERROR",
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
}


def start(rig: Rig, program: pathlib.Path, config: dict, name: str = "litellm") -> Server:
    """Starts the proxy, with a worker for each of the gateway's CPUs."""
    port = rig.free_port()
    file = rig.file(f"{name}.yaml", json.dumps(config))
    argv = [program.absolute(), "--config", file, "--host", HOST, "--port", port, "--num_workers", rig.threads]
    child = rig.start(name, argv, env=ENVIRONMENT, gateway=True)
    server = Server(name, child, port)
    rig.await_answer(name, child, server.url("/health/liveliness"), seconds=900)
    return server


def version(program: pathlib.Path) -> str:
    """Its version, as its package says it."""
    python = program.absolute().parent / "python"
    words = "from importlib.metadata import version; print(version('litellm'))"
    return subprocess.run([python, "-c", words], capture_output=True, text=True, check=True).stdout.strip()
