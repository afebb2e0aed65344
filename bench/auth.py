#!/usr/bin/env python3
"""What authentication costs: CPU time per request of one Tollgate, as a ratio to its own keyless API, in one interleaved run.

The same process serves every row, so that only the chain differs. Tokens of `fresh` are different ones, made beforehand, and
forgotten between rounds: each costs a signature. What openssl needs for such a signature on this machine is said beside it.
Status codes are checked: a row with an unexpected one is void. Loads with `tollgate-bench load`.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import re
import statistics
import subprocess
import threading
import time
import urllib.request

import rig as bench
from rig import Rig, RigError, Tollgate

PATH = "/json/valid"
POLICY = "bench"


def main() -> int:
    args = arguments()
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    key = RsaKey.new()
    with Rig(args.threads) as rig, Issuer(key) as issuer:
        upstream = bench.nginx_upstream(rig)
        apis = definitions(upstream.url("/"), issuer.url)
        policies(rig, [api["api_id"] for api in apis])
        gateway = bench.tollgate_gateway(rig, args.binary, apis, "/open/")
        rows = shapes(rig, gateway, key, args)
        rounds = [
            {name: sample(rig, gateway, row, args) for name, row in rows.items()} for _ in range(args.rounds + 1)
        ][1:]  # the first one warms up
    report(rounds, args)
    if args.json:
        args.json.write_text(json.dumps({"run": facts, "rounds": rounds}, indent=1) + "\n")
    return 1 if any(row["trouble"] for one in rounds for row in one.values()) else 0


def arguments() -> argparse.Namespace:
    parser = bench.argument_parser(__doc__, rounds=6, seconds=2)
    parser.add_argument("--tokens", type=int, default=4000, help="different tokens of one measurement")
    return parser.parse_args()


# What is asked of the gateway ---------------------------------------------------------------------------------


def definitions(target: str, issuer: str) -> list[dict]:
    def api(name: str, **fields) -> dict:
        return bench.api_definition(name, f"/{name}/", target) | {"use_keyless": name == "open"} | fields

    return [
        api("open"),
        api("key"),
        api("jwt", enable_jwt=True, jwt_signing_method="rsa", jwt_source=issuer, jwt_default_policies=[POLICY]),
        api("basic", use_basic_auth=True, basic_auth={"cache_ttl": 86400}),
        api("signed", enable_signature_checking=True),
    ]


def rights(apis: list[str]) -> dict:
    return {name: {"api_id": name, "api_name": name, "versions": ["Default"]} for name in apis}


def policies(rig: Rig, apis: list[str]) -> None:
    """One policy for all that have no key; the gateway reads it where its environment says."""
    policy = {"id": POLICY, "org_id": "default", "rate": 0, "per": 0, "quota_max": -1, "access_rights": rights(apis)}
    os.environ["TYK_GW_POLICIES_POLICYSOURCE"] = "file"
    os.environ["TYK_GW_POLICIES_POLICYRECORDNAME"] = str(rig.file("policies.json", json.dumps({POLICY: policy})))


@dataclasses.dataclass
class Row:
    """One line of the table. `variables` is a file whose lines stand for {line} in the headers, each once."""

    api: str
    headers: dict[str, str]
    variables: pathlib.Path | None = None


def shapes(rig: Rig, gateway: Tollgate, key: RsaKey, args: argparse.Namespace) -> dict[str, Row]:
    control(gateway, "POST", "/tyk/keys/alice?org_id=default", session(basic_auth_data={"password": "open sesame"}))
    public = control(gateway, "POST", "/tyk/certs?org_id=default", key.public_pem())["id"]
    signers = {
        "hmac-sha256": create(gateway, hmac_enabled=True, hmac_string="a secret"),
        "rsa-sha256": create(gateway, enable_http_signature_validation=True, rsa_certificate_id=public),
    }
    user = base64.b64encode(b"alice:open sesame").decode()
    print(f"  making {args.tokens} tokens")
    tokens = rig.file("tokens", "".join(token(key, f"user-{number % 100}", number) + "\n" for number in range(args.tokens)))
    rows = {
        "keyless": Row("open", {}),
        "key": Row("key", {"Authorization": create(gateway)}),
        "JWT, RS256, the same token": Row("jwt", {"Authorization": token(key, "user", 0)}),
        "JWT, RS256, fresh tokens": Row("jwt", {"Authorization": "{line}"}, tokens),
        "basic, password remembered": Row("basic", {"Authorization": f"Basic {user}"}),
    }
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
    text = f"(request-target): get /signed{PATH}\ndate: {date}".encode()
    for algorithm, name in signers.items():
        made = key.sign(text) if algorithm.startswith("rsa") else hmac.digest(b"a secret", text, "sha256")
        fields = {"keyId": name, "algorithm": algorithm, "headers": "(request-target) date", "signature": b64(made)}
        value = "Signature " + ",".join(f'{field}="{text}"' for field, text in fields.items())
        rows[f"signed, {algorithm}"] = Row("signed", {"Authorization": value, "Date": date})
    return rows


def session(**fields) -> bytes:
    return json.dumps({"org_id": "default", "expires": 0, "access_rights": rights(["key", "basic", "signed"])} | fields).encode()


def create(gateway: Tollgate, **fields) -> str:
    return control(gateway, "POST", "/tyk/keys/create", session(**fields))["key"]


def control(gateway: Tollgate, method: str, path: str, body: bytes | None = None) -> dict:
    url = f"http://{bench.HOST}:{gateway.port}{path}"
    request = urllib.request.Request(url, data=body, method=method, headers={"x-tyk-authorization": gateway.secret})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


# Tokens -------------------------------------------------------------------------------------------------------


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

    def public_pem(self) -> bytes:
        return openssl("pkey", "-pubout", stdin=self.pem)

    def jwk(self) -> dict:
        return {"kty": "RSA", "kid": "bench", "use": "sig", "n": url64(self.modulus.to_bytes(256)), "e": "AQAB"}


def token(key: RsaKey, user: str, number: int) -> str:
    claims = {"sub": user, "jti": str(number), "exp": int(time.time()) + 86400}
    signed = ".".join(url64(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "bench"}, claims))
    return f"{signed}.{url64(key.sign(signed.encode()))}"


def b64(value: bytes) -> str:
    return base64.b64encode(value).decode()


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


# Measuring ----------------------------------------------------------------------------------------------------


def sample(rig: Rig, gateway: Tollgate, row: Row, args: argparse.Namespace) -> dict:
    if row.variables:
        # Whatever was found good of these tokens is forgotten with the keys; one request fetches them again.
        control(gateway, "DELETE", "/tyk/cache/jwks")
        load(rig, gateway, dataclasses.replace(row, variables=None, headers=first_line(row)), ["-n", "1", "-c", "1"])
    before = bench.usage(gateway.pid)
    amount = ["-n", str(args.tokens)] if row.variables else ["-z", f"{args.seconds}s"]
    result = load(rig, gateway, row, [*amount, "-c", str(args.conns)])
    spent = bench.usage(gateway.pid) - before
    completed = result["requests"]["completed"]
    others = {status: count for status, count in result["status"].items() if status != "200"}
    trouble = f"answers {others}" if others else "requests failed" if result["requests"]["failed"] else ""
    return {"cpu_us": spent.cpu_ns / 1e3 / max(completed, 1), "requests": completed, "trouble": trouble}


def first_line(row: Row) -> dict[str, str]:
    with row.variables.open() as lines:
        line = lines.readline().strip()
    return {name: value.replace("{line}", line) for name, value in row.headers.items()}


def load(rig: Rig, gateway: Tollgate, row: Row, amount: list[str]) -> dict:
    loader = bench.bench_binary(pathlib.Path(gateway.child.args[3]))
    out = rig.dir / "load.json"
    argv = ["taskset", "-c", ",".join(map(str, rig.other_cpus)), loader, "load", *amount, "--no-progress", "--json", out]
    argv += ["--disable-compression", "--threads", "1"]
    argv += [word for name, value in row.headers.items() for word in ("-H", f"{name}: {value}")]
    argv += ["--vars", f"line={row.variables}"] if row.variables else []
    argv.append(f"http://{bench.HOST}:{gateway.port}/{row.api}{PATH}")
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1) or not out.exists():
        raise RigError(f"the loader ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(out.read_text())


def signature_us() -> str:
    """What openssl needs to check a signature, by its own account."""
    text = openssl("speed", "-seconds", "1", "rsa2048").decode()
    figures = re.search(r"rsa\s*2048 bits\s+\S+\s+([\d.]+)s", text)
    return f"{float(figures[1]) * 1e6:.1f} us" if figures else "unknown"


def report(rounds: list[dict], args: argparse.Namespace) -> None:
    print(f"\n{args.conns} connections, {args.rounds} rounds x {args.seconds} s; medians (lowest-highest)")
    print(f"{'request':32} {'CPU us':>22} {'x keyless':>20}")
    for name in rounds[0]:
        own = [one[name]["cpu_us"] for one in rounds]
        ratios = [one[name]["cpu_us"] / one["keyless"]["cpu_us"] for one in rounds]
        void = next((one[name]["trouble"] for one in rounds if one[name]["trouble"]), "")
        print(f"{name:32} {spread(own):>22} {spread(ratios):>20}{'  VOID: ' + void if void else ''}")
    print(f"a check of a signature with RSA of 2048 bits alone, by openssl speed: {signature_us()}")


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


if __name__ == "__main__":
    bench.run(main)
