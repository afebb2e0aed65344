"""The servers behind the gateway: each runs an application that writes down every request it gets."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

from rig import HOST, Rig, RigError, Server

APPS = pathlib.Path(__file__).resolve().parent / "apps"
# What pip installs into a directory of its own under the build directory.
PACKAGES = ["uvicorn", "h11", "httptools", "gunicorn", "waitress", "cheroot", "werkzeug", "aiohttp", "tornado", "hypercorn"]


@dataclasses.dataclass
class Origin:
    name: str
    server: Server
    record: pathlib.Path


def python() -> pathlib.Path:
    """A Python that has the packages; it is made when it is not there."""
    venv = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", APPS.parents[2] / "target")) / "smuggling-venv"
    program = venv / "bin" / "python"
    wanted = "import " + ", ".join(PACKAGES)
    if subprocess.run([program, "-c", wanted], capture_output=True).returncode if program.exists() else True:
        print(f"installing {' '.join(PACKAGES)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([program, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return program


def commands(rig: Rig) -> dict[str, list]:
    """How each server is started; the port comes last or where PORT is written."""
    interpreter = python()
    module = [interpreter, "-m"]
    made = {
        "uvicorn-h11": [*module, "uvicorn", "asgi:app", "--app-dir", APPS, "--http", "h11", "--log-level", "critical", "--port", "PORT"],
        "uvicorn-httptools": [*module, "uvicorn", "asgi:app", "--app-dir", APPS, "--http", "httptools", "--log-level", "critical", "--port", "PORT"],
        "hypercorn": [*module, "hypercorn", f"{APPS}/asgi.py:app", "--bind", f"{HOST}:PORT", "--log-level", "critical"],
        "gunicorn": [*module, "gunicorn", "wsgi:app", "--chdir", APPS, "--threads", "4", "--keep-alive", "60", "--log-level", "critical", "--bind", f"{HOST}:PORT"],
        "waitress": [interpreter, APPS / "wsgi.py", "waitress", "PORT"],
        "cheroot": [interpreter, APPS / "wsgi.py", "cheroot", "PORT"],
        "werkzeug": [interpreter, APPS / "wsgi.py", "werkzeug", "PORT"],
        "http.server": [interpreter, APPS / "stdlib_app.py", "PORT"],
        "aiohttp": [interpreter, APPS / "aiohttp_app.py", "PORT"],
        "tornado": [interpreter, APPS / "tornado_app.py", "PORT"],
    }
    if shutil.which("node"):
        made["node"] = ["node", APPS / "node_app.mjs", "PORT"]
    if shutil.which("go"):
        build(["go", "build", "-o", rig.dir / "go-origin", APPS / "main.go"])
        made["go"] = [rig.dir / "go-origin", "PORT"]
    if shutil.which("javac"):
        build(["javac", "-d", rig.dir, APPS / "JavaApp.java"])
        made["java"] = ["java", "-cp", rig.dir, "JavaApp", "PORT"]
    return made


def build(argv: list) -> None:
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        raise RigError(f"{argv[0]} fails:\n{done.stderr}")


def start(rig: Rig, only: list[str]) -> list[Origin]:
    chosen = {name: argv for name, argv in commands(rig).items() if not only or name in only}
    if missing := set(only) - set(chosen):
        raise RigError(f"there is no origin called {', '.join(sorted(missing))}")
    started = []
    for name, argv in chosen.items():
        port, record = rig.free_port(), rig.dir / f"{name}.jsonl"
        record.touch()
        child = rig.start(name, [str(part).replace("PORT", str(port)) for part in argv], env={"RECORD": str(record)})
        started.append(Origin(name, Server(name, child, port), record))
    for origin in started:
        rig.await_answer(origin.name, origin.server.child, origin.server.url("/"))
    return started
