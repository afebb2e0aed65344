"""A gateway whose operators and developers have accounts in Keycloak, and what people do there with a browser and with commands."""

import json
import re
import subprocess
import time

from .keycloak import PASSWORD, answer_of, client, free_port, groups_mapper, roles_mapper
from .process import Failure

CONTROL_SECRET = "the secret of the control API"
CLIENT_SECRET = "a secret: of a client/100%+"
CONSOLE, COMMANDS, PORTAL = "tollgate-console", "tollgate-cli", "tollgate-portal"
# A key set is read again after this time, and in any case not sooner than the pause.
KEY_SET_AGE_S, KEY_SET_PAUSE_S = 5, 11
# What happens at once, on a busy machine.
SOON_S = 30
SIGNED_IN = "document.querySelector('nav[aria-label=Pages]')"
NEW_SIGN_IN = "document.querySelector('.sign-in input[type=password]')"


class SingleSignOn:
    def __init__(self, keycloak, browser, processes, binary, home):
        self.keycloak, self.browser, self.processes, self.binary, self.home = keycloak, browser, processes, binary, home
        self.port, self.portal_port = free_port(), free_port()
        self.url, self.portal_url = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.portal_port}"

    def prepare(self):
        """The realm, and the gateway as its documents tell."""
        page = f"{self.url}/tyk/console/login/keycloak"
        told = {"backchannel.logout.url": f"{page}/back-channel", "backchannel.logout.session.required": "true"}
        self.keycloak.make_realm([
            client(CONSOLE, [f"{page}/callback"], [groups_mapper(), roles_mapper(CONSOLE)], CLIENT_SECRET, **told,
                   **{"pkce.code.challenge.method": "S256", "post.logout.redirect.uris": f"{self.url}/tyk/console/"}),
            client(COMMANDS, ["http://127.0.0.1/callback"], [groups_mapper()], **told,
                   **{"oauth2.device.authorization.grant.enabled": "true", "pkce.code.challenge.method": "S256"}),
            client(PORTAL, [f"{self.portal_url}/sign-in/keycloak/callback"], [], CLIENT_SECRET,
                   **{"pkce.code.challenge.method": "S256", "post.logout.redirect.uris": f"{self.portal_url}/"}),
        ])
        role = f"/clients/{self.keycloak.client(CONSOLE)}/roles"
        self.keycloak.of("POST", role, {"name": "reader"})
        given = [self.keycloak.of("GET", f"{role}/reader")]
        self.keycloak.of("POST", f"/users/{self.keycloak.user('rob')}/role-mappings/clients/{self.keycloak.client(CONSOLE)}", given)
        self.start_gateway()

    def start_gateway(self):
        apps = self.home / "apps"
        apps.mkdir(parents=True)
        for name, tags in {"own": ["team-a"], "other": []}.items():
            definition = {"api_id": name, "name": name, "org_id": "default", "active": True, "use_keyless": True, "tags": tags,
                          "proxy": {"listen_path": f"/{name}/", "target_url": "http://127.0.0.1:9/", "strip_listen_path": True},
                          "version_data": {"not_versioned": True, "versions": {"Default": {"name": "Default"}}}}
            (apps / f"{name}.json").write_text(json.dumps(definition))
        provider = {"name": "keycloak", "title": "Keycloak", "issuer": self.keycloak.issuer, "client_secret": CLIENT_SECRET, "sign_out_there": True}
        operators = {
            "public_url": self.url,
            "providers": [{
                **provider, "client_id": CONSOLE, "cli_client_id": COMMANDS, "scopes": ["email"], "name_claim": "email",
                "rules": [
                    {"claim": "groups", "value": "platform", "role": "admin"},
                    {"claim": "groups", "value": "team-a", "role": "editor", "tags": ["team-a"]},
                    {"claim": f"resource_access.{CONSOLE}.roles", "value": "reader", "role": "viewer"},
                ],
            }],
        }
        portal = {
            "listen": f"127.0.0.1:{self.portal_port}", "url": self.portal_url, "gateway_url": self.url,
            "sign_up": {"by": "domain", "domains": ["example.com"]},
            # Nobody is listening there: who signs in at a provider gets no mail.
            "mail": {"host": "127.0.0.1", "port": 9, "tls": "none", "from": "Example <apis@example.com>"},
            "providers": [{**provider, "client_id": PORTAL, "scopes": ["profile"]}],
        }
        settings = {
            "listen_address": "127.0.0.1", "listen_port": self.port, "secret": CONTROL_SECRET, "app_path": str(apps),
            "external_services": {"oauth": {"mtls": {"enabled": True, "ca_file": str(self.keycloak.authority)}}},
            "jwks": {"cache": {"timeout": KEY_SET_AGE_S}},
            "tollgate": {"data_dir": str(self.home / "data"), "operators": operators, "portal": portal},
        }
        (self.home / "tyk.conf").write_text(json.dumps(settings))
        self.processes.start("tollgate", "setpriv", "--pdeathsig", "TERM", self.binary, "run", "--conf", self.home / "tyk.conf")
        self.processes.wait_for("the gateway answers", lambda: answer_of(f"{self.url}/hello")[0] == 200, 60)

    # What a person does.

    def console(self, name):
        """A new browser in which somebody has signed in to the console."""
        tab = self.browser.tab()
        tab.open(f"{self.url}/tyk/console/")
        self.sign_in(tab, name)
        tab.wait(SIGNED_IN)
        return tab

    def portal(self, name):
        """The same in the portal, where they may not be let in."""
        tab = self.browser.tab()
        tab.open(f"{self.portal_url}/#/sign-in")
        self.sign_in(tab, name)
        tab.wait(f"location.href.startsWith('{self.portal_url}/')")
        return tab

    def sign_in(self, tab, name):
        tab.click("a", "Sign in with Keycloak")
        self.credentials(tab, name)

    def credentials(self, tab, name):
        tab.fill("#username", name)
        tab.fill("#password", PASSWORD)
        tab.click("#kc-login")

    def command(self, name, line, wait=True):
        """A command of somebody with a home of their own: exit code and all that it says, or the process."""
        home = self.home / "homes" / name
        home.mkdir(parents=True, exist_ok=True)
        environment = {"PATH": "/nowhere", "HOME": str(home), "TOLLGATE_URL": self.url, "SSL_CERT_FILE": str(self.keycloak.authority)}
        process = subprocess.Popen([self.binary, *line.split()], env=environment, cwd=home, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not wait:
            return process
        text, _ = process.communicate(timeout=60)
        return process.returncode, text

    def login(self, name, line="login"):
        """Signs somebody in for commands, and returns what the command says."""
        process = self.command(name, line, wait=False)
        try:
            told = ""
            while not (found := re.search(r"https://\S+", told)):
                read = process.stdout.readline()
                expect(read, f"{line}: {told}")
                told += read
            tab = self.browser.tab()
            tab.open(found[0])
            if "--device" in line:
                tab.fill("#device_user_code", told.split()[-1])
                tab.click("#kc-user-verify-device-user-code-form button")
            self.credentials(tab, name)
            if process.poll() is None:
                tab.wait("document.querySelector('#kc-login[name=accept]') || /You may close|Device Login Successful/.test(document.body.innerText)")
                if tab.value("!!document.querySelector('#kc-login[name=accept]')"):
                    tab.click("#kc-login[name=accept]")
            rest, _ = process.communicate(timeout=60)
            expect(process.returncode == 0, f"{line}: {told}{rest}")
            return told + rest
        finally:
            process.kill()

    def kept(self, name):
        """The file of tokens of somebody's commands."""
        return self.home / "homes" / name / ".config/tollgate/logins.json"

    def let_token_end(self, name):
        """The next command renews the identity token."""
        logins = json.loads(self.kept(name).read_text())
        logins[self.url]["expires_unix_s"] = 1
        self.kept(name).write_text(json.dumps(logins))

    def sessions(self, name, client=None):
        """Somebody's sessions at Keycloak, or those with one client."""
        sessions = self.keycloak.of("GET", f"/users/{self.keycloak.user(name)}/sessions")
        return [session for session in sessions if client is None or client in session["clients"].values()]

    def control(self, method, path):
        status, _, text = answer_of(f"{self.url}{path}", method, headers={"x-tyk-authorization": CONTROL_SECRET})
        return status, text.decode(errors="replace")


def expect(is_so, text):
    if not is_so:
        raise Failure(text)


def eventually(what, is_so):
    until = time.monotonic() + SOON_S
    while not is_so():
        if time.monotonic() > until:
            raise Failure(f"{what}: not within {SOON_S} s")
        time.sleep(0.2)
