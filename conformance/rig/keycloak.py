"""Keycloak on loopback: its archive from Maven Central, its start, and a realm as an administrator makes it."""

import hashlib
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile

from .process import Failure

VERSION = "26.7.3"
SHA256 = "27a6535553c3cdcd083872ba40629efafb3475e3b758e0c6f691395561dd0f1f"
REALM = "company"
PASSWORD = "correct horse battery"
# On two busy cores, the first start takes 80 s.
START_S_MAX = 300


def installed(cache, say):
    """The folder of the program, fetched by Maven, which knows the mirror if there is one."""
    folder, archive = cache / f"keycloak-{VERSION}", cache / f"keycloak-quarkus-dist-{VERSION}.zip"
    if not folder.exists():
        for program, package in {"mvn": "maven", "java": "openjdk-17-jre-headless"}.items():
            if not shutil.which(program):
                raise Failure(f"{program} is missing ({package})")
        say(f"fetching Keycloak {VERSION}, 177 MB")
        cache.mkdir(parents=True, exist_ok=True)
        artifact = f"-Dartifact=org.keycloak:keycloak-quarkus-dist:{VERSION}:zip"
        subprocess.run(["mvn", "-B", "-q", "-Dstyle.color=never", "dependency:copy", artifact, f"-DoutputDirectory={cache}"], check=True, timeout=1800)
        if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
            raise Failure(f"{archive} is not what it was when this program was written")
        parts = cache / f"keycloak-{VERSION}.parts"
        shutil.rmtree(parts, ignore_errors=True)
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(parts)
        (parts / folder.name).rename(folder)
        parts.rmdir()
        archive.unlink()
    return folder


def free_port():
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return chosen.getsockname()[1]


def answer_of(url, method="GET", body=None, headers=None, authority=None):
    """Status, headers and body of an answer; no proxy is asked. `authority` is the file of the server's authority."""
    tls = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=authority))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), tls)
    try:
        with opener.open(urllib.request.Request(url, body, headers or {}, method=method), timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()
    except OSError:
        return 0, {}, b""


def make_certificate(home):
    """Files of a certificate of 127.0.0.1, of its key, and of its authority, as a company has one of its own."""
    authority, certificate, key = home / "authority.pem", home / "certificate.pem", home / "key.pem"
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    for command in (
        [*new, "-subj", "/CN=authority", "-addext", "keyUsage=critical,keyCertSign", "-keyout", home / "authority.key", "-out", authority],
        [*new, "-subj", "/CN=keycloak", "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
         "-CA", authority, "-CAkey", home / "authority.key", "-keyout", key, "-out", certificate],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return authority, certificate, key


class Keycloak:
    def __init__(self, url, authority):
        self.url, self.authority, self.token, self.ends = url, authority, "", 0
        self.issuer = f"{url}/realms/{REALM}"

    @classmethod
    def start(cls, folder, processes, home):
        """Starts it with its data in memory. Its script starts a second process, which ends with the namespace."""
        port = free_port()
        authority, certificate, key = make_certificate(home)
        administrator = {"KC_BOOTSTRAP_ADMIN_USERNAME": "admin", "KC_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD}
        as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        processes.start(
            "keycloak", "setpriv", "--pdeathsig", "KILL", "unshare", *as_root, "--pid", "--fork", "--kill-child",
            "bash", folder / "bin/kc.sh", "start-dev", "--db=dev-mem",
            "--http-host=127.0.0.1", "--http-enabled=false", f"--https-port={port}",
            f"--https-certificate-file={certificate}", f"--https-certificate-key-file={key}",
            environment={**os.environ, **administrator, "JAVA_OPTS_KC_HEAP": "-Xms64m -Xmx512m"},
        )
        keycloak = cls(f"https://127.0.0.1:{port}", authority)
        processes.wait_for("Keycloak answers", lambda: keycloak.ask("/realms/master")[0] == 200, START_S_MAX)
        return keycloak

    def ask(self, path, method="GET", body=None, headers=None):
        return answer_of(self.url + path, method, body, headers, self.authority)

    def call(self, method, path, document=None):
        """The document that a call of the administrator's returns; for something new, its identifier."""
        if time.monotonic() > self.ends:
            form = {"grant_type": "password", "client_id": "admin-cli", "username": "admin", "password": PASSWORD}
            _, _, text = self.ask("/realms/master/protocol/openid-connect/token", "POST", urllib.parse.urlencode(form).encode())
            told = json.loads(text)
            self.token, self.ends = told["access_token"], time.monotonic() + told["expires_in"] / 2
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        status, told, text = self.ask(f"/admin/realms{path}", method, None if document is None else json.dumps(document).encode(), headers)
        if status >= 400 or status == 0:
            raise Failure(f"Keycloak answers {status} to {method} {path}: {text.decode(errors='replace')}")
        made = told.get("Location", "").rpartition("/")[2] if status == 201 else None
        return made or (json.loads(text) if text else None)

    def of(self, method, path, document=None):
        """The same, in the realm."""
        return self.call(method, f"/{REALM}{path}", document)

    def make_realm(self, clients):
        """A realm with groups, and with people who are called as their group: `ann.platform` is one of `platform`."""
        people = {"ann": ["platform"], "eve": ["team-a"], "bob": ["team-a"], "sue": ["platform"], "joe": [], "rob": []}
        self.call("POST", "", {
            "realm": REALM, "enabled": True, "sslRequired": "all",
            "groups": [{"name": "platform"}, {"name": "team-a"}],
            "clients": clients,
            "users": [person(name, groups) for name, groups in people.items()],
        })

    def user(self, name):
        return self.of("GET", f"/users?username={name}&exact=true")[0]["id"]

    def change_user(self, name, **members):
        identifier = self.user(name)
        self.of("PUT", f"/users/{identifier}", {**self.of("GET", f"/users/{identifier}"), **members})

    def group(self, name):
        return self.of("GET", f"/groups?search={name}&exact=true")[0]["id"]

    def client(self, name):
        return self.of("GET", f"/clients?clientId={name}")[0]["id"]


def person(name, groups):
    return {
        "username": name, "email": f"{name}@example.com", "emailVerified": True, "firstName": name.title(), "lastName": "Example", "enabled": True,
        "groups": [f"/{group}" for group in groups], "realmRoles": [f"default-roles-{REALM}"],
        "credentials": [{"type": "password", "value": PASSWORD}],
    }


def client(name, redirects, mappers=(), secret=None, **attributes):
    """A client of the code flow, public without a secret."""
    return {
        "clientId": name, "redirectUris": redirects, "publicClient": secret is None, "standardFlowEnabled": True, "directAccessGrantsEnabled": False,
        "attributes": attributes, "protocolMappers": list(mappers), **({"secret": secret} if secret else {}),
    }


def groups_mapper():
    """Puts the groups of a person into the tokens, with their names alone: `platform`, not `/platform`."""
    return mapper("groups", "oidc-group-membership-mapper", {"claim.name": "groups", "full.path": "false"})


def roles_mapper(of_client):
    """Puts the roles of a client into the identity token. Keycloak's own scope puts them into access tokens alone."""
    settings = {"usermodel.clientRoleMapping.clientId": of_client, "claim.name": "resource_access.${client_id}.roles", "multivalued": "true"}
    return mapper("roles", "oidc-usermodel-client-role-mapper", settings)


def mapper_named(keycloak, of_client, name):
    """Where a mapper of a client is, and its document."""
    place = f"/clients/{keycloak.client(of_client)}/protocol-mappers/models"
    document = next(each for each in keycloak.of("GET", place) if each["name"] == name)
    return f"{place}/{document['id']}", document


def mapper(name, kind, settings):
    places = {"id.token.claim": "true", "userinfo.token.claim": "true"}
    return {"name": name, "protocol": "openid-connect", "protocolMapper": kind, "config": {**places, **settings}}
