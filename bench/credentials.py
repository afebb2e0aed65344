"""Keys, tokens and their issuer, for scripts that ask a Tollgate for more than a keyless API."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import http.server
import json
import os
import re
import subprocess
import threading
import time
import urllib.request

import rig as bench
from rig import Rig, RigError, Tollgate

FAR = 10**9  # no request of a run comes near a limit of this size
POLICY = "bench"


def key(gateway: Tollgate, right: dict, **session) -> str:
    body = {"org_id": "default", "expires": 0, "access_rights": {right["api_id"]: right}} | session
    return control(gateway, "keys/create", body)["key"]


def limited_key(gateway: Tollgate, api: str) -> str:
    """A key for one API with a rate limit and a quota, both far away."""
    right = {"api_id": api, "api_name": api, "versions": ["Default"]}
    return key(gateway, right, rate=FAR, per=1, quota_max=FAR, quota_renewal_rate=86400)


def oauth_token(gateway: Tollgate) -> str:
    control(gateway, "oauth/clients/create", {"client_id": "bench", "api_id": "oauth", "redirect_uri": "https://bench.test/"})
    rules = {"org_id": "default", "access_rights": {"oauth": {"api_id": "oauth", "versions": ["Default"]}}}
    asked = {"api_id": "oauth", "response_type": "token", "client_id": "bench", "key_rules": json.dumps(rules)}
    return control(gateway, "oauth/authorize-client", asked)["access_token"]


def control(gateway: Tollgate, path: str, body: dict) -> dict:
    request = urllib.request.Request(
        f"http://{bench.HOST}:{gateway.port}/tyk/{path}",
        data=json.dumps(body).encode(),
        headers={"x-tyk-authorization": gateway.secret, "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def rights(apis: list[str]) -> dict:
    return {name: {"api_id": name, "api_name": name, "versions": ["Default"]} for name in apis}


def policies(rig: Rig, apis: list[str]) -> None:
    """One policy for all that have no key; the gateway reads it where its environment says."""
    policy = {"id": POLICY, "org_id": "default", "rate": 0, "per": 0, "quota_max": -1, "access_rights": rights(apis)}
    os.environ["TYK_GW_POLICIES_POLICYSOURCE"] = "file"
    os.environ["TYK_GW_POLICIES_POLICYRECORDNAME"] = str(rig.file("policies.json", json.dumps({POLICY: policy})))


@dataclasses.dataclass
class RsaKey:
    """A key of 2048 bits, made by openssl; signing is arithmetic."""

    pem: bytes
    modulus: int
    prime1: int
    prime2: int
    exponent1: int
    exponent2: int
    coefficient: int

    @classmethod
    def new(cls) -> RsaKey:
        pem = openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        text = openssl("pkey", "-noout", "-text", stdin=pem).decode()
        numbers = dict(re.findall(r"(?m)^(\w+):\s*\n((?: +[0-9a-f:]+\n)+)", text))
        read = lambda name: int(re.sub(r"[\s:]", "", numbers[name]), 16)  # noqa: E731
        return cls(pem, *map(read, ("modulus", "prime1", "prime2", "exponent1", "exponent2", "coefficient")))

    def sign(self, message: bytes) -> bytes:
        """PKCS #1 v1.5 with SHA-256 (RFC 8017, 8.2.1)."""
        info = bytes.fromhex("3031300d060960864801650304020105000420") + hashlib.sha256(message).digest()
        padded = int.from_bytes(b"\x00\x01" + b"\xff" * (253 - len(info)) + b"\x00" + info)
        one, two = pow(padded, self.exponent1, self.prime1), pow(padded, self.exponent2, self.prime2)
        return (two + self.prime2 * (self.coefficient * (one - two) % self.prime1)).to_bytes(256)

    def jwk(self) -> dict:
        return {"kty": "RSA", "kid": "bench", "use": "sig", "n": url64(self.modulus.to_bytes(256)), "e": "AQAB"}


def token(key: RsaKey, user: str, number: int) -> str:
    claims = {"sub": user, "jti": str(number), "exp": int(time.time()) + 86400}
    signed = ".".join(url64(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "bench"}, claims))
    return f"{signed}.{url64(key.sign(signed.encode()))}"


def url64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def openssl(*argv: str, stdin: bytes = b"") -> bytes:
    try:
        return subprocess.run(["openssl", *argv], input=stdin, capture_output=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise RigError(f"openssl {argv[0]}: {error}") from error


class Issuer:
    """Serves the key set."""

    def __init__(self, key: RsaKey):
        body = json.dumps({"keys": [key.jwk()]}).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((bench.HOST, 0), Handler)
        self.url = f"http://{bench.HOST}:{self.server.server_port}/jwks.json"

    def __enter__(self) -> Issuer:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()
