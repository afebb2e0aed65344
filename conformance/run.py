#!/usr/bin/env python3
"""Runs the conformance suite of the Gateway API against Tollgate, in a Kubernetes cluster of its own on this machine.

Everything runs in namespaces of its own (network, processes, mounts) and ends with them, however this program ends.
"""

import argparse
import ctypes
import fcntl
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from rig import build, cluster, endurance, ingress, policies, steady, suite, tyk
from rig.process import Failure, Processes

CONTROLLER_NAME = "tollgate.dev/gateway-controller"
# Set for the copy of this program that runs inside the namespaces: the folder of its run.
INSIDE = "TOLLGATE_CONFORMANCE_RUN"
PR_SET_PDEATHSIG = 1
BEGAN = time.monotonic()


def main():
    arguments = parse()
    try:
        if arguments.enter is not None:
            return enter(arguments.enter)
        if INSIDE in os.environ:
            return inside(arguments, pathlib.Path(os.environ[INSIDE]))
        return outside(arguments)
    except Failure as failure:
        print(f"conformance: {failure}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as failure:
        print(f"conformance: {shlex.join(str(word) for word in failure.cmd)} failed with {failure.returncode}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, help="the tollgate to test; without it only the rig is tested")
    parser.add_argument("--profile", action="append", choices=suite.PROFILES, help="test only this profile (may be repeated)")
    parser.add_argument("--run-test", metavar="NAME", help="run only this test")
    parser.add_argument(
        "--features", choices=("standard", "experimental", "declared"), default="standard",
        help="which features to test: all of a channel, or those that the GatewayClass declares (default: standard)",
    )
    parser.add_argument("--channel", choices=("standard", "experimental"), default="standard", help="which resource definitions to install")
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE", help="write the suite's own report (not with --lenient)")
    parser.add_argument("--version", default="main", help="the version that the report names")
    parser.add_argument("--failures", type=pathlib.Path, metavar="FILE", help="write the tests that failed, with what they said, as Markdown")
    parser.add_argument("--minutes", type=int, default=60, help="end the suite after so many minutes (default: 60)")
    parser.add_argument("--endurance", action="store_true", help="instead of the suite: many routes, outages of the API server, changing replicas")
    parser.add_argument("--steady", action="store_true", help="instead of the suite: a steady rate of requests, of which none may fail, whatever changes")
    parser.add_argument("--rate", type=int, default=5000, help="requests a second of --steady (default: 5000)")
    parser.add_argument("--edits", type=int, default=500, help="how many edits of routes --steady makes (default: 500)")
    parser.add_argument("--policies", action="store_true", help="instead of the suite: Tollgate's own policies, with two gateways on one Redis")
    parser.add_argument("--ingress", action="store_true", help="instead of the suite: Ingresses with the annotations of ingress-nginx")
    parser.add_argument("--tyk", action="store_true", help="instead of the suite: resources of Tyk Operator, applied, served, broken and deleted")
    parser.add_argument("--routes", type=int, default=5000, help="how many routes --endurance creates (default: 5000)")
    parser.add_argument("--outage", type=int, default=60, metavar="SECONDS", help="for how long the API server is away in --endurance (default: 60)")
    parser.add_argument("--patience", type=int, metavar="SECONDS", help="wait at most so long for what takes the suite up to 300 s: for work on the gateway")
    parser.add_argument("--lenient", action="store_true", help="run the tests even if the suite's setup fails")
    parser.add_argument("--only-setup", action="store_true", help="start the cluster and the gateway, install the definitions, run no test")
    parser.add_argument("--keep", action="store_true", help="leave everything running at the end, until this program is interrupted")
    parser.add_argument("--build", action="store_true", help="only build the programs of the rig")
    parser.add_argument("--tollgate-args", type=shlex.split, default=[], metavar="'ARGUMENTS'", help="more arguments for tollgate kubernetes")
    parser.add_argument("--suite-args", type=shlex.split, default=[], metavar="'ARGUMENTS'", help="more arguments for the suite")
    parser.add_argument("--enter", nargs=argparse.REMAINDER, metavar="COMMAND", help="run a command inside the rig that was started last")
    return parser.parse_args()


def outside(arguments):
    """Builds, then runs this program again inside new namespaces."""
    for program, package in {"go": "Go", "ip": "iproute2", "unshare": "util-linux", "openssl": "openssl", "etcd": "etcd-server"}.items():
        if not shutil.which(program):
            raise Failure(f"{program} is missing ({package})")
    build.build(say)
    # Inside, there is no network to fetch their module from.
    build.definitions(arguments.channel)
    if arguments.build:
        return 0
    remove_old_runs()
    run = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=build.cache()))
    # Held as long as the run goes on: a run without a holder is an old one.
    holder = open(run / "lock", "w")
    fcntl.flock(holder, fcntl.LOCK_EX)
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    process = subprocess.Popen(
        ["unshare", *as_root, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, *sys.argv],
        env={**os.environ, INSIDE: str(run)}, preexec_fn=end_with_parent, pass_fds=[holder.fileno()],
    )
    (run / "pid").write_text(str(child_of(process)))
    signal.signal(signal.SIGTERM, lambda *_: os.kill(int((run / "pid").read_text()), signal.SIGTERM))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return process.wait()
    finally:
        for folder in ("etcd", "pods"):
            shutil.rmtree(run / folder, ignore_errors=True)


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def child_of(process):
    """The first process of the namespaces, by its number outside of them."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        if found := children.read_text().split():
            return found[0]
        time.sleep(0.01)
    raise Failure("unshare has ended: are namespaces allowed here?")


def remove_old_runs():
    for run in build.cache().glob("run-*"):
        if not is_going_on(run):
            shutil.rmtree(run, ignore_errors=True)


def is_going_on(run):
    try:
        with open(run / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True


def enter(command):
    runs = [run for run in build.cache().glob("run-*") if is_going_on(run) and (run / "pid").exists()]
    if not runs:
        raise Failure("no rig is running")
    run = max(runs, key=lambda run: (run / "pid").stat().st_mtime)
    pid = (run / "pid").read_text()
    environment = {**os.environ, "KUBECONFIG": str(run / "kubeconfig")}
    as_root = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    os.execvpe("nsenter", ["nsenter", "--target", pid, *as_root, "--net", "--mount", "--pid", *(command or ["bash"])], environment)


def inside(arguments, run):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    logs = run / "logs"
    logs.mkdir()
    processes = Processes(logs)
    try:
        return run_inside(arguments, run, processes)
    finally:
        processes.end()


def run_inside(arguments, run, processes):
    programs = build.cache() / "bin"
    kubernetes = cluster.Cluster(run, programs, processes)
    kubernetes.start(say)
    say("definitions of the Gateway API")
    kubernetes.install(build.definitions(arguments.channel))
    if arguments.policies:
        kubernetes.install([policies.DEFINITIONS])
    kubernetes.create("GatewayClass", gateway_class())
    say(f"the cluster is ready; logs are in {processes.logs}")
    if arguments.binary:
        start_gateway(arguments, kubernetes, processes)
    result = 0
    try:
        if not arguments.only_setup:
            result = test(arguments, kubernetes, programs)
    except Failure as failure:
        if not arguments.keep:
            raise
        say(str(failure))
        result = 2
    if arguments.keep:
        keep(run)
    return result


def gateway_class():
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: {suite.GATEWAY_CLASS}}}
spec: {{controllerName: {CONTROLLER_NAME}}}
"""


def start_gateway(arguments, kubernetes, processes):
    say("tollgate")
    home = kubernetes.directory / "tollgate"
    home.mkdir()
    kubernetes.install([build.FOLDER / "rig/permissions.yaml"])
    kubeconfig = home / "kubeconfig"
    kubernetes.write_kubeconfig("tollgate", kubeconfig)
    gateways = [([], ["--ingress-class", ingress.CLASS] if arguments.ingress else [])]
    if arguments.policies:
        policies.start_redis(processes)
        gateways = [(start, ["--conf", configuration]) for start, configuration in policies.prepare(home, processes)]
    if arguments.steady:
        policies.second_network(processes)
        gateways = [([], ["--data-plane-only"])]
        start_controller(arguments, kubernetes, processes)
    secret = {"TYK_GW_SECRET": tyk.CONTROL_SECRET} if arguments.tyk else {}
    for number, (start, own) in enumerate(gateways):
        processes.start(
            f"tollgate-{number}" if number else "tollgate",
            *start,
            *(arguments.binary.resolve(), "kubernetes", "--kubeconfig", kubeconfig, "--gateway-class-controller-name", CONTROLLER_NAME),
            *("--addresses", cluster.GATEWAYS[0], *own, *arguments.tollgate_args),
            environment={**os.environ, "HOME": str(home), **secret}, folder=home,
        )
    # With it come the features that it declares, which the suite reads when it starts.
    if not arguments.lenient:
        processes.wait_for("the GatewayClass is accepted", kubernetes.class_is_accepted, 60)


def start_controller(arguments, kubernetes, processes):
    """What writes statuses while another process serves: in a network of its own, because both bind the Gateway's address."""
    home = kubernetes.directory / steady.CONTROLLER
    home.mkdir(exist_ok=True)
    processes.start(
        steady.CONTROLLER,
        *policies.in_second(processes),
        *(arguments.binary.resolve(), "kubernetes", "--kubeconfig", kubernetes.directory / "tollgate/kubeconfig"),
        *("--gateway-class-controller-name", CONTROLLER_NAME, "--addresses", cluster.GATEWAYS[0]),
        environment={**os.environ, "HOME": str(home)}, folder=home,
    )


def test(arguments, kubernetes, programs):
    if not arguments.binary:
        return 0 if suite.check_rig(kubernetes, programs, say) else 1
    for is_wanted, step, succeeded, failed in (
        (arguments.endurance, lambda: endurance.run(kubernetes, arguments, say), "all requests were answered", "requests failed during: "),
        (arguments.steady, lambda: steady.run(kubernetes, arguments, lambda: start_controller(arguments, kubernetes, kubernetes.processes), say),
         "no request failed", "requests failed during: "),
        (arguments.policies, lambda: policies.run(kubernetes, say), "all policies act", "failed: "),
        (arguments.ingress, lambda: ingress.run(kubernetes, say), "all Ingresses are served as they must", "failed: "),
        (arguments.tyk, lambda: tyk.run(kubernetes, say), "Tyk's resources are served", "not as they should be: "),
    ):
        if is_wanted:
            failures = step()
            say(failed + "; ".join(failures) if failures else succeeded)
            return 1 if failures else 0
    results = suite.run(kubernetes, programs, arguments, say)
    print()
    for line in suite.summary(results):
        say(line)
    failed = results.failed()
    if failed:
        say("failed: " + " ".join(failed))
    if arguments.failures:
        arguments.failures.write_text("\n".join(suite.failures_as_markdown(results, kubernetes.processes.logs / "suite.log")) + "\n")
    return 1 if failed or not results.outcomes else 0


def keep(run):
    say(f"everything stays running; kubeconfig: {run / 'kubeconfig'}; enter with: conformance/run.py --enter kubectl get pods -A")
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        pass


def say(text):
    print(f"{time.monotonic() - BEGAN:6.1f} s  {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
