"""Programs that run beside the rig, and how it waits for them."""

import os
import pathlib
import signal
import subprocess
import time


class Failure(Exception):
    """The rig cannot go on; the text is for whoever started it."""


class Processes:
    """What the rig started, in order. All of it ends in the opposite order."""

    def __init__(self, logs):
        self.logs, self.started = logs, []

    def start(self, name, *command, environment=None, folder=None, **options):
        log = self.logs / f"{name}.log"
        with open(log, "ab") as output:
            process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env=environment, cwd=folder, start_new_session=True, **options,
            )
        self.started.append((name, process, log))
        return process

    def check(self):
        for name, process, log in self.started:
            if process.poll() is not None:
                raise Failure(f"{name} has ended with {process.returncode}; its last lines ({log}):\n{last_lines(log)}")

    def wait_for(self, what, is_so, seconds):
        """Waits until `is_so` returns something true, and returns it. Fails when a process has ended, or the time."""
        until = time.monotonic() + seconds
        while True:
            self.check()
            if result := is_so():
                return result
            if time.monotonic() > until:
                raise Failure(f"{what}: not within {seconds} s; logs are in {self.logs}")
            time.sleep(0.1)

    def named(self, wanted):
        return next(process for name, process, _ in self.started if name == wanted)

    def stop(self, wanted):
        """Ends one at once."""
        process = self.named(wanted)
        process.kill()
        process.wait()
        self.started = [each for each in self.started if each[1] is not process]

    def replace(self, wanted, process):
        """Another process goes on in the place of one that has ended."""
        self.started = [(name, process if name == wanted else known, log) for name, known, log in self.started]

    def end(self):
        for _, process, _ in reversed(self.started):
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.started.clear()


class Adopted:
    """A process that another one has started, and that goes on in its place."""

    def __init__(self, pid):
        self.pid, self.returncode = pid, None

    def poll(self):
        try:
            state = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return 0
        # One that nobody waits for has ended too.
        return 0 if state == "Z" else None

    def terminate(self):
        os.kill(self.pid, signal.SIGTERM)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def wait(self, seconds=10):
        until = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("adopted", seconds)
            time.sleep(0.05)


def last_lines(log, count=15):
    return "\n".join("    " + line for line in log.read_text(errors="replace").splitlines()[-count:])
