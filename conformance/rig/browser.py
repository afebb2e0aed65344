"""A headless Chromium, driven through a pipe with its DevTools protocol. It ends with this program, because the pipe does."""

import fcntl
import itertools
import json
import os
import select
import shutil
import time

from .process import Failure

# A page on a busy machine is slow.
PATIENCE_S = 60
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
         "--disable-extensions", "--remote-debugging-pipe", "about:blank"]


class Browser:
    def __init__(self, processes, profile):
        program = shutil.which("chromium")
        if not program:
            raise Failure("chromium is missing (chromium)")
        theirs, self.commands = os.pipe()
        self.events, answers = os.pipe()
        # The protocol has these two numbers; neither end may be in the way of the other.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs, answers)]

        def place():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        processes.start("chromium", program, f"--user-data-dir={profile}", *FLAGS, preexec_fn=place, close_fds=False)
        for end in (theirs, answers, *ends):
            os.close(end)
        self.numbers, self.unread, self.contexts = itertools.count(1), b"", []

    def tab(self):
        """A page with cookies of its own."""
        context = self.command("Target.createBrowserContext")["browserContextId"]
        self.contexts.append(context)
        target = self.command("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        tab = Tab(self, self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        # The certificates of the rig are not the browser's to judge.
        self.command("Security.setIgnoreCertificateErrors", tab.session, ignore=True)
        return tab

    def close_tabs(self):
        while self.contexts:
            self.command("Target.disposeBrowserContext", browserContextId=self.contexts.pop())

    def command(self, method, session=None, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE_S
        while True:
            answer = self.next(until, method)
            if answer.get("id") == number:
                return answer.get("result") or {"error": answer.get("error")}

    def next(self, until, method):
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.events], [], [], max(0, until - time.monotonic()))
            read = os.read(self.events, 1 << 16) if ready else b""
            if not read:
                raise Failure(f"Chromium does not answer to {method}")
            self.unread += read
        message, _, self.unread = self.unread.partition(b"\0")
        return json.loads(message)


class Tab:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session

    def open(self, url):
        self.browser.command("Page.navigate", self.session, url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, expression):
        """The value of an expression, after its promise; `None` too while a page goes and another one comes."""
        answer = self.browser.command("Runtime.evaluate", self.session, expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        return answer.get("result", {}).get("value")

    def wait(self, expression):
        until = time.monotonic() + PATIENCE_S
        while not self.value(f"!!({expression})"):
            if time.monotonic() > until:
                raise Failure(f"never true: {expression}; the page is\n{self.value('location.href + String.fromCharCode(10) + document.body.innerText')}")
            time.sleep(0.05)

    def see(self, text):
        self.wait(f"document.body?.innerText.includes({json.dumps(text)})")

    def click(self, selector, text=""):
        """Clicks the last element that a selector finds and whose text or label begins so. The page may be gone before an answer."""
        said = "(one.innerText || one.getAttribute('aria-label') || '').trim()"
        found = f"[...document.querySelectorAll({json.dumps(selector)})].findLast((one) => {said}.startsWith({json.dumps(text)}))"
        self.wait(found)
        self.value(f"{{ const one = {found}; setTimeout(() => one.click()); 0 }}")

    def fill(self, selector, text):
        self.wait(f"document.querySelector({json.dumps(selector)})")
        self.value(f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.focus(); one.select(); }})()")
        self.browser.command("Input.insertText", self.session, text=text)

    def ask(self, path):
        """Status and document that a page of the same origin gets."""
        return self.value(f"fetch({json.dumps(path)}, {{headers: {{'X-Tollgate-Console': '1'}}}})"
                          ".then(async (answer) => [answer.status, await answer.json().catch(() => null)])")
