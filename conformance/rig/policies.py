"""Our own policies against a real API server: what it does not take, what is said of those that it takes, and requests under them, with two gateways
on one Redis."""

import base64
import collections
import http.client
import json
import pathlib
import subprocess
import sys
import time

from . import cluster
from .process import Failure
from .suite import GATEWAY_CLASS

FOLDER = pathlib.Path(__file__).parents[2]
DEFINITIONS = FOLDER / "deploy/kubernetes/policies.yaml"
NAMESPACE = "policies"
GATEWAY_API = "/apis/gateway.networking.k8s.io/v1"
POLICY_API = "/apis/tollgate.dev/v1alpha1"
PATIENCE_S = 30
SERVED_WITHIN_S = 1.0
KEY, OTHER_KEY = "key-of-alice-0123456789", "key-of-bob-0123456789"
REDIS_PORT = 6390
SECOND = "second"

ROUTE = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "r"}
# Settings that the API server refuses, with words of what it says.
REFUSED = [
    ("AuthenticationPolicy", {}, "name a method"),
    ("AuthenticationPolicy", {"apiKeys": {}}, "name Secrets by matchLabels"),
    ("AuthenticationPolicy", {"apiKeys": {"matchLabels": {}}}, "at least 1"),
    ("AuthenticationPolicy", {"apiKeys": {"stored": True, "from": {}}}, "name a header"),
    ("AuthenticationPolicy", {"apiKeys": {"stored": True}, "requiredScopes": ["a"]}, "requiredScopes are for tokens"),
    ("AuthenticationPolicy", {"apiKeys": {"stored": True}, "claimHeaders": [{"claim": "a", "header": "B"}]}, "claimHeaders need"),
    ("AuthenticationPolicy", {"jwt": {}}, "either jwksUris or a publicKey"),
    ("AuthenticationPolicy", {"jwt": {"jwksUris": ["https://a"], "publicKey": "x"}}, "either jwksUris or a publicKey"),
    ("AuthenticationPolicy", {"jwt": {"jwksUris": ["file:///etc/passwd"]}}, "should match"),
    ("AuthenticationPolicy", {"jwt": {"jwksUris": ["https://a"], "algorithms": "none"}}, "Unsupported value"),
    ("AuthenticationPolicy", {"external": {}}, "url"),
    ("AuthenticationPolicy", {"basic": {"secrets": []}}, "at least 1"),
    ("AuthenticationPolicy", {"basic": {"secrets": ["a"]}, "apiKeys": {"stored": True}}, "basic does not go with"),
    ("AuthenticationPolicy", {"clientCertificates": {}}, "name Secrets or ConfigMaps"),
    ("AuthenticationPolicy", {"apiKeys": {"matchLabels": {"a": "b"}, "quota": {"requests": 0, "window": "1h"}}}, "greater than or equal to 1"),
    ("RateLimitPolicy", {"concurrent": {"perAddress": 0}}, "greater than or equal to 1"),
    ("TrafficPolicy", {"circuitBreaker": {"failurePercent": 101, "minRequests": 1, "openFor": "1s"}}, "less than or equal to 100"),
    ("TrafficPolicy", {"backendHealth": {}}, "name passive or active"),
    ("TrafficPolicy", {"backendHealth": {"passive": {}}}, "name consecutiveFailures or failurePercent"),
    ("TrafficPolicy", {"backendHealth": {"active": {"path": "health"}}}, "should match"),
    ("TrafficPolicy", {"backendHealth": {"active": {"statuses": [99]}}}, "greater than or equal to 100"),
    ("TrafficPolicy", {"firewall": {"withoutCoreRules": True}}, "without core rules, name rules"),
    ("TrafficPolicy", {"firewall": {"exclusions": [{}]}}, "name rules, tags, parameters or paths"),
    ("RateLimitPolicy", {}, "limits"),
    ("RateLimitPolicy", {"limits": []}, "at least 1"),
    ("RateLimitPolicy", {"limits": [{"requests": 0, "window": "1s"}]}, "greater than or equal to 1"),
    ("RateLimitPolicy", {"limits": [{"requests": 1, "window": "soon"}]}, "should match"),
    ("RateLimitPolicy", {"limits": [{"requests": 1, "window": "1s", "per": "Header"}]}, "name is the name of the header"),
    ("RateLimitPolicy", {"limits": [{"requests": 1, "window": "1s", "name": "X"}]}, "name is the name of the header"),
    ("TrafficPolicy", {"clients": {}}, "name addresses"),
    ("TrafficPolicy", {"errors": [{"statuses": ["200"], "body": "x"}]}, "should match"),
    ("TrafficPolicy", {"errors": [{"statuses": ["404"]}]}, "name a status, a body or headers"),
    ("TrafficPolicy", {"maxRequestBytes": 0}, "greater than or equal to 1"),
]
REFUSED_TARGETS = [
    ([], "at least 1"),
    ([{**ROUTE, "kind": "TCPRoute"}], "attached to a Gateway"),
    ([{**ROUTE, "group": ""}], "at least 1 char"),
    ([ROUTE, ROUTE], "named once"),
    ([{**ROUTE, "name": f"r{number}"} for number in range(17)], "at most 16"),
]


def prepare(home, processes):
    """What both gateways need beside the cluster: their configurations, and for each what its command begins with. The second one is in a network of its
    own, because both bind the Gateway's address."""
    second_network(processes)
    plugins = home / "plugins"
    plugins.mkdir()
    (plugins / "greet.js").write_text(
        "var greet = new TykJS.TykMiddleware.NewMiddleware({});\n"
        "greet.NewProcessRequest(function (request, session, config) {\n"
        '  request.SetHeaders["X-Greeting"] = config.config_data.greeting;\n'
        "  return greet.ReturnData(request, {});\n"
        "});\n"
    )
    configurations = []
    for number in range(2):
        configuration = home / f"tyk-{number}.conf"
        settings = {
            "listen_address": "127.0.0.1", "listen_port": 8090 + number, "secret": "policies", "hash_keys": True,
            "storage": {"type": "redis", "host": cluster.NODE[0], "port": REDIS_PORT},
            "middleware_path": str(plugins), "enable_jsvm": True, "tollgate": {"rate_limit_headers": "both"},
        }
        configuration.write_text(json.dumps(settings))
        configurations.append(configuration)
    return list(zip([[], in_second(processes)], configurations))


def second_network(processes):
    """A network of its own for a gateway that binds the same addresses."""
    holder = processes.start(SECOND, "unshare", "--net", "sleep", "infinity")
    own = pathlib.Path("/proc/self/ns/net").readlink()
    processes.wait_for("the second network is there", lambda: pathlib.Path(f"/proc/{holder.pid}/ns/net").readlink() != own, 10)
    for inside, command in (
        (False, f"link add {SECOND} type veth peer name eth0 netns {holder.pid}"),
        (False, f"link set {SECOND} master {cluster.BRIDGE} up"),
        (True, "link set lo up"),
        (True, "addr add 10.88.255.2/16 dev eth0"),
        (True, "link set eth0 up"),
        (True, f"route add local {cluster.GATEWAYS[0]} dev lo"),
    ):
        subprocess.run([*(in_second(processes) if inside else []), "ip", *command.split()], check=True)


def in_second(processes):
    return ["nsenter", "--net", f"--target={processes.named(SECOND).pid}"]


def start_redis(processes):
    processes.start("redis", "redis-server", "--port", str(REDIS_PORT), "--protected-mode", "no", "--save", "", "--appendonly", "no")


class Rig:
    def __init__(self, kubernetes, say):
        self.cluster, self.say, self.failures = kubernetes, say, []

    def expect(self, what, actual, expected):
        is_right = actual == expected
        self.say(f"    {'ok  ' if is_right else 'FAIL'} {what}" + ("" if is_right else f": {actual!r}, not {expected!r}"))
        if not is_right:
            self.failures.append(what)

    def eventually(self, what, find, expected, seconds=PATIENCE_S):
        """Waits until something is as expected, and says after which time."""
        began = time.monotonic()
        actual = find()
        while actual != expected and time.monotonic() - began < seconds:
            time.sleep(0.02)
            actual = find()
        self.expect(f"{what} ({time.monotonic() - began:.2f} s)", actual, expected)

    def apply(self, path, name, document):
        status, answer = self.cluster.request(
            "PATCH", f"{path}/{name}?fieldManager=policies&force=true", json.dumps(document), "application/apply-patch+yaml"
        )
        if status not in (200, 201):
            raise Failure(f"{path}/{name}: {status} {answer}")

    def core(self, kind, name, document):
        self.apply(f"/api/v1/namespaces/{NAMESPACE}/{kind.lower()}s", name, {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **document.pop("metadata", {})}, **document})

    def custom(self, kind, name, spec):
        self.apply(
            f"{GATEWAY_API}/namespaces/{NAMESPACE}/{kind.lower()}s", name,
            {"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec},
        )

    def policy(self, kind, name, targets, settings):
        self.apply(policies_of(kind), name, policy(kind, name, targets, settings))

    def delete(self, path):
        self.cluster.request("DELETE", path)

    def object(self, path):
        return json.loads(self.cluster.request("GET", path)[1])

    def conditions(self, kind, name):
        ancestors = self.object(f"{policies_of(kind)}/{name}").get("status", {}).get("ancestors", [])
        return [
            " ".join(
                f"{'+' if condition['status'] == 'True' else '-'}{condition['type']}" + ("" if condition["reason"] == condition["type"] else ":" + condition["reason"])
                for condition in ancestor["conditions"]
            )
            for ancestor in ancestors
        ]

    def ask(self, path="/", **headers):
        return self.response(path, **headers)[0]

    def response(self, path="/", method="GET", body=None, host="r", **headers):
        connection = http.client.HTTPConnection(self.gateway, timeout=10)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, {"Host": f"{host}.example.com", **named})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read().decode()
        except OSError as error:
            return type(error).__name__, {}, ""
        finally:
            connection.close()


def policies_of(kind):
    return f"{POLICY_API}/namespaces/{NAMESPACE}/{kind.lower()[:-1]}ies"


def policy(kind, name, targets, settings):
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "tollgate.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": {"targetRefs": targets, **settings}}


def run(kubernetes, say):
    """Returns what went wrong."""
    rig = Rig(kubernetes, say)
    setup(rig)
    for name, act in (
        ("what the API server refuses", refusals),
        ("keys from Secrets", keys),
        ("quotas of keys with two gateways on one Redis", quotas),
        ("users of HTTP basic", users),
        ("a firewall", firewall),
        ("tokens", tokens),
        ("limits with two gateways on one Redis", limits),
        ("addresses, cache, headers, bodies, plugins, errors, sizes", traffic),
        ("precedence", precedence),
        ("what can't act", unusable),
    ):
        say(name)
        act(rig)
    return rig.failures


def setup(rig):
    labels = {"app": "echo"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "echo", "image": "echo-basic"}]}}
    rig.apply("/api/v1/namespaces", NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    rig.apply(
        f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments", "echo",
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "echo"}, "spec": {"selector": {"matchLabels": labels}, "template": pod}},
    )
    rig.core("Service", "echo", {"spec": {"selector": labels, "ports": [{"port": 80, "targetPort": 3000}]}})
    listeners = [{"name": "http", "port": 80, "protocol": "HTTP"}]
    rig.custom("Gateway", "gw", {"gatewayClassName": GATEWAY_CLASS, "listeners": listeners})
    backend = [{"name": "echo", "port": 80}]
    rules = [
        {"backendRefs": backend},
        {"name": "named", "matches": [{"path": {"value": "/named"}}], "backendRefs": backend},
    ]
    rig.custom("HTTPRoute", "r", {"parentRefs": [{"name": "gw"}], "hostnames": ["r.example.com"], "rules": rules})
    rig.custom("HTTPRoute", "other", {"parentRefs": [{"name": "gw"}], "hostnames": ["other.example.com"], "rules": rules})
    rig.gateway = rig.cluster.processes.wait_for("the Gateway has an address", lambda: address(rig), 60)
    rig.cluster.processes.wait_for("the route is served", lambda: rig.ask() == 200, 60)


def address(rig):
    addresses = rig.object(f"{GATEWAY_API}/namespaces/{NAMESPACE}/gateways/gw").get("status", {}).get("addresses", [])
    return addresses[0]["value"] if addresses else None


def refusals(rig):
    cases = [(kind, [ROUTE], settings, words) for kind, settings, words in REFUSED]
    cases += [("RateLimitPolicy", targets, {"limits": [{"requests": 1, "window": "1s"}]}, words) for targets, words in REFUSED_TARGETS]
    for kind, targets, settings, words in cases:
        path = f"{policies_of(kind)}?dryRun=All&fieldValidation=Strict"
        status, answer = rig.cluster.request("POST", path, json.dumps(policy(kind, "p", targets, settings)), "application/json")
        is_told = status == 422 and words in answer
        if not is_told:
            rig.expect(f"{kind} {json.dumps(settings)[:60]} {len(targets)} targets: {words}", (status, answer), "a refusal")
    rig.expect(f"{len(cases)} objects are refused with a reason", True, True)


def keys(rig):
    rig.policy("AuthenticationPolicy", "keys", [ROUTE], {"apiKeys": {"matchLabels": {"for": "shop"}, "from": {"header": "X-Key"}}})
    rig.eventually("without a key: 401", rig.ask, 401)
    rig.expect("the other route is open", rig.response(host="other")[0], 200)
    secret(rig, "alice", KEY, {"alias": "Alice"})
    rig.eventually("with the key of a new Secret: 200", lambda: rig.ask(X_Key=KEY), 200, SERVED_WITHIN_S)
    rig.eventually("so it is at the second gateway", lambda: asked_second(rig, "X-Key", KEY, 1)["200"], 1, SERVED_WITHIN_S)
    rig.expect("with another key: 403", rig.ask(X_Key=OTHER_KEY), 403)
    rig.expect("the backend does not see the key", KEY in rig.response(X_Key=KEY)[2], False)
    secret(rig, "alice", OTHER_KEY, {})
    rig.eventually("with the old key: 403", lambda: rig.ask(X_Key=KEY), 403, SERVED_WITHIN_S)
    rig.expect("with the new one: 200", rig.ask(X_Key=OTHER_KEY), 200)
    rig.delete(f"/api/v1/namespaces/{NAMESPACE}/secrets/alice")
    rig.eventually("the Secret is gone: 403", lambda: {rig.ask(X_Key=OTHER_KEY) for _ in range(8)}, {403}, SERVED_WITHIN_S)
    rig.eventually("so it is at the second gateway", lambda: asked_second(rig, "X-Key", OTHER_KEY, 1)["403"], 1, SERVED_WITHIN_S)
    secret(rig, "short", "short", {})
    rig.eventually("a key that is too short is told", lambda: rig.conditions("AuthenticationPolicy", "keys"), ["+Accepted -ResolvedRefs:InvalidSecret"])
    rig.delete(f"/api/v1/namespaces/{NAMESPACE}/secrets/short")
    rig.expect("no definition and no log has a key", [text for text in (KEY, OTHER_KEY) if text in told(rig)], [])
    remove(rig, "AuthenticationPolicy", "keys")
    rig.eventually("without the policy: 200", rig.ask, 200)


def quotas(rig):
    keys_of_shop = {"matchLabels": {"for": "shop"}, "from": {"header": "X-Key"}, "quota": {"requests": 10, "window": "24h"}}
    secret(rig, "alice", KEY, {})
    rig.policy("AuthenticationPolicy", "quota", [ROUTE], {"apiKeys": keys_of_shop})
    rig.eventually("without a key: 401", rig.ask, 401)
    rig.eventually("so it is at the second gateway", lambda: asked_second(rig, "X-Other", "x", 1)["401"], 1)
    passed = sum(rig.ask(X_Key=KEY) == 200 for _ in range(6)) + asked_second(rig, "X-Key", KEY, 6)["200"]
    rig.expect("10 of 12 requests to both pass", passed, 10)
    secret(rig, "bob", OTHER_KEY, {})
    rig.eventually("another key has its own", lambda: rig.ask(X_Key=OTHER_KEY), 200)
    rig.expect("the quota is used up as before", (rig.ask(X_Key=KEY), asked_second(rig, "X-Key", KEY, 1)["403"]), (403, 1))
    for name in ("alice", "bob"):
        rig.delete(f"/api/v1/namespaces/{NAMESPACE}/secrets/{name}")
    remove(rig, "AuthenticationPolicy", "quota")
    rig.eventually("without the policy: 200", rig.ask, 200)


def users(rig):
    # The hash of `secret`.
    lines = base64.b64encode(b"joe:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n").decode()
    rig.core("Secret", "users", {"data": {"auth": lines}})
    rig.policy("AuthenticationPolicy", "users", [ROUTE], {"basic": {"secrets": ["users"]}})
    rig.eventually("without a password: 401", rig.ask, 401)
    basic = lambda password: "Basic " + base64.b64encode(f"joe:{password}".encode()).decode()
    status, _, body = rig.response(Authorization=basic("secret"))
    rig.expect("with the password: 200, and the backend does not see it", (status, "Authorization" in body), (200, False))
    rig.expect("with another one: 401", rig.ask(Authorization=basic("Secret")), 401)
    rig.delete(f"/api/v1/namespaces/{NAMESPACE}/secrets/users")
    rig.eventually("the Secret is gone: refused", lambda: rig.ask(Authorization=basic("secret")), 500, SERVED_WITHIN_S)
    rig.eventually("status", lambda: rig.conditions("AuthenticationPolicy", "users"), ["-Accepted:Invalid +ResolvedRefs"])
    remove(rig, "AuthenticationPolicy", "users")
    rig.eventually("without the policy: 200", rig.ask, 200)


def firewall(rig):
    rules = 'SecRule ARGS:coupon "!@rx ^[A-Z0-9]{8}$" "id:1000001,phase:2,deny"'
    rig.policy("TrafficPolicy", "firewall", [ROUTE], {"firewall": {"withoutCoreRules": True, "rules": rules}})
    rig.eventually("what the rules deny: 403", lambda: rig.ask("/?coupon=no"), 403)
    rig.expect("what they let pass: 200", rig.ask("/?coupon=ABCD1234"), 200)
    rig.policy("TrafficPolicy", "firewall", [ROUTE], {"firewall": {"withoutCoreRules": True, "rules": "SecRule ARGS @nothing"}})
    rig.eventually("with rules that are none: refused", lambda: rig.ask("/?coupon=ABCD1234"), 500)
    rig.eventually("status", lambda: rig.conditions("TrafficPolicy", "firewall"), ["-Accepted:Invalid +ResolvedRefs"])
    remove(rig, "TrafficPolicy", "firewall")
    rig.eventually("without the policy: 200", lambda: rig.ask("/?coupon=no"), 200)


def told(rig):
    """All that the gateways say of themselves."""
    connection = http.client.HTTPConnection("127.0.0.1", 8090, timeout=10)
    connection.request("GET", "/tyk/apis", headers={"x-tyk-authorization": "policies"})
    text = connection.getresponse().read().decode()
    connection.close()
    if "k8s-httproute-policies.r" not in text:
        raise Failure(f"/tyk/apis does not show the route: {text[:200]}")
    return text + "".join(log.read_text(errors="replace") for log in rig.cluster.processes.logs.glob("tollgate*.log"))


def secret(rig, name, key, more):
    rig.core("Secret", name, {"metadata": {"labels": {"for": "shop"}}, "data": {entry: base64.b64encode(text.encode()).decode() for entry, text in {"key": key, **more}.items()}})


def remove(rig, kind, name):
    rig.delete(f"{policies_of(kind)}/{name}")


def tokens(rig):
    folder = rig.cluster.directory
    private, public = folder / "jwt.pem", folder / "jwt.pub"
    subprocess.run(["openssl", "genrsa", "-out", private, "2048"], check=True, capture_output=True)
    subprocess.run(["openssl", "rsa", "-in", private, "-pubout", "-out", public], check=True, capture_output=True)
    settings = {
        "jwt": {"publicKey": public.read_text(), "issuers": ["rig"]}, "claimHeaders": [{"claim": "sub", "header": "X-User"}], "requiredScopes": ["read"],
    }
    rig.policy("AuthenticationPolicy", "tokens", [{**ROUTE, "sectionName": "named"}], settings)
    rig.eventually("without a token: refused", lambda: rig.ask("/named"), 400)
    rig.expect("the route's other rule is open", rig.ask("/"), 200)
    good = {"sub": "alice", "iss": "rig", "scope": "read write", "exp": int(time.time()) + 600}
    status, _, body = rig.response("/named", Authorization=f"Bearer {token(private, good)}", X_User="somebody")
    rig.expect("with a token: 200", status, 200)
    rig.expect("the backend gets the claim", json.loads(body)["headers"].get("X-User") if status == 200 else None, ["alice"])
    for what, claims, expected in (("another issuer", {"iss": "x"}, 401), ("no scope", {"scope": "write"}, 403), ("expired", {"exp": 1}, 401)):
        rig.expect(f"{what}: {expected}", rig.ask("/named", Authorization=f"Bearer {token(private, {**good, **claims})}"), expected)
    rig.eventually("status", lambda: rig.conditions("AuthenticationPolicy", "tokens"), ["+Accepted +ResolvedRefs"])
    remove(rig, "AuthenticationPolicy", "tokens")
    rig.eventually("without the policy: 200", lambda: rig.ask("/named"), 200)


def token(private, claims):
    part = lambda document: base64.urlsafe_b64encode(document if isinstance(document, bytes) else json.dumps(document).encode()).rstrip(b"=").decode()
    signed = f"{part({'alg': 'RS256', 'typ': 'JWT'})}.{part(claims)}"
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", private], input=signed.encode(), check=True, capture_output=True).stdout
    return f"{signed}.{part(signature)}"


def limits(rig):
    rules = [{"requests": 20, "window": "1h", "per": "Header", "name": "X-Tenant"}]
    rig.policy("RateLimitPolicy", "limits", [ROUTE], {"limits": rules})
    rig.eventually("the policy is in effect", lambda: "RateLimit" in rig.response(X_Tenant="first")[1], True)
    rig.eventually("so it is at the second gateway", lambda: asked_second(rig, "X-Tenant", "second", 1)["limited"], 1)
    rig.expect("12 requests to the second gateway pass", asked_second(rig, "X-Tenant", "a", 12)["200"], 12)
    outcomes = collections.Counter(rig.ask(X_Tenant="a") for _ in range(30))
    rig.expect("8 of 30 requests to the first one pass", dict(outcomes), {200: 8, 429: 22})
    rig.expect("and none to the second one", asked_second(rig, "X-Tenant", "a", 5)["429"], 5)
    rig.expect("another value has a counter of its own", rig.ask(X_Tenant="b"), 200)
    status, headers, _ = rig.response(X_Tenant="a")
    rig.expect("a refusal says when to come back", (status, int(headers.get("Retry-After", 0)) > 0), (429, True))
    remove(rig, "RateLimitPolicy", "limits")
    rig.policy("RateLimitPolicy", "address", [ROUTE], {"limits": [{"requests": 10, "window": "1h", "per": "Address"}]})
    rig.eventually("per address: refused at last", lambda: rig.ask(), 429)
    remove(rig, "RateLimitPolicy", "address")
    rig.eventually("without the policy: 200", rig.ask, 200)


ASKS = """
import collections, http.client, json, sys
address, name, value, count = *sys.argv[1:4], int(sys.argv[4])
outcomes = collections.Counter({"200": 0, "401": 0, "403": 0, "429": 0, "limited": 0})
for _ in range(count):
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request("GET", "/", headers={"Host": "r.example.com", name: value})
    response = connection.getresponse()
    outcomes[str(response.status)] += 1
    outcomes["limited"] += "RateLimit" in response.headers
    connection.close()
print(json.dumps(outcomes))
"""


def asked_second(rig, name, value, count):
    """What became of requests with a header to the second gateway."""
    command = [*in_second(rig.cluster.processes), sys.executable, "-c", ASKS, rig.gateway, name, value, str(count)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def traffic(rig):
    rig.policy("TrafficPolicy", "t", [ROUTE], {"clients": {"deny": ["10.0.0.0/8", "127.0.0.0/8"]}})
    rig.eventually("a denied address: 403", rig.ask, 403)
    rig.policy("TrafficPolicy", "t", [ROUTE], {"clients": {"allow": ["10.0.0.0/8", "127.0.0.0/8"]}})
    rig.eventually("an allowed one: 200", rig.ask, 200)
    settings = {
        "cache": {},
        "requestHeaders": {"set": [{"name": "X-Set", "value": "by-policy"}], "remove": ["X-Gone"]},
        "responseHeaders": {"set": [{"name": "X-Answer", "value": "by-policy"}]},
        "plugins": {"driver": "JavaScript", "hooks": [{"phase": "BeforeAuthentication", "name": "greet", "path": "greet.js"}], "config": {"greeting": "hello"}},
        "errors": [{"statuses": ["400"], "status": 413, "body": '{"policy": "too large"}', "headers": [{"name": "X-Error", "value": "own"}]}],
        "maxRequestBytes": 100,
    }
    rig.policy("TrafficPolicy", "t", [ROUTE], settings)
    rig.eventually("response headers", lambda: rig.response()[1].get("X-Answer"), "by-policy")
    status, _, body = rig.response(X_Gone="x")
    headers = json.loads(body)["headers"] if status == 200 else {}
    rig.expect("request headers", (headers.get("X-Set"), headers.get("X-Gone")), (["by-policy"], None))
    rig.expect("a plugin", headers.get("X-Greeting"), ["hello"])
    too_large = rig.response(method="POST", body="x" * 200)
    rig.expect("a size with an error of one's own", (too_large[0], too_large[1].get("X-Error"), too_large[2]), (413, "own", '{"policy": "too large"}'))
    cached = [rig.response("/cached", X_Echo_Set_Header="Cache-Control:max-age=60") for _ in range(6)]
    # Each gateway has a memory of its own.
    rig.expect("a cache", (len({body for _, _, body in cached}) <= 2, any("Age" in headers for _, headers, _ in cached)), (True, True))
    bodies = {"requestBody": {"jq": "{body: {wrapped: .body}}"}, "responseBody": {"jq": "{body: {path: .body.path}}"}}
    rig.policy("TrafficPolicy", "t", [ROUTE], bodies)
    rig.eventually("another body", lambda: rig.response("/some")[2].strip(), '{"path":"/some"}')
    rig.eventually("status", lambda: rig.conditions("TrafficPolicy", "t"), ["+Accepted +ResolvedRefs"])
    remove(rig, "TrafficPolicy", "t")
    rig.eventually("without the policy", lambda: "X-Answer" in rig.response()[1], False)


def precedence(rig):
    gateway = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "gw"}
    name = lambda policy: {"responseHeaders": {"set": [{"name": "X-Policy", "value": policy}]}}
    of = lambda path="/", host="r": rig.response(path, host=host)[1].get("X-Policy")
    rig.policy("TrafficPolicy", "a-gateway", [gateway], name("gateway"))
    rig.eventually("that of the Gateway", lambda: (of(), of("/named"), of(host="other")), ("gateway",) * 3)
    time.sleep(1.1)
    rig.policy("TrafficPolicy", "b-route", [ROUTE], name("route"))
    rig.eventually("that of the route", lambda: (of(), of("/named"), of(host="other")), ("route", "route", "gateway"))
    time.sleep(1.1)
    rig.policy("TrafficPolicy", "c-rule", [{**ROUTE, "sectionName": "named"}], name("rule"))
    rig.eventually("that of the rule", lambda: (of(), of("/named"), of(host="other")), ("route", "rule", "gateway"))
    rig.policy("TrafficPolicy", "a-newer", [ROUTE], name("newer"))
    rig.eventually("the newer one is in conflict", lambda: rig.conditions("TrafficPolicy", "a-newer"), ["-Accepted:Conflicted +ResolvedRefs"])
    rig.expect("the older one applies", of(), "route")
    for policy_name in ("a-gateway", "b-route", "c-rule", "a-newer"):
        remove(rig, "TrafficPolicy", policy_name)
    rig.eventually("none", lambda: (of(), of("/named"), of(host="other")), (None,) * 3)


def unusable(rig):
    # The gateway, not the controller, knows that these can't act.
    invalid, warned = "-Accepted:Invalid +ResolvedRefs", "+Accepted +ResolvedRefs +PartiallyInvalid:UnsupportedValue"
    for what, kind, said, settings in (
        ("a filter that is none", "TrafficPolicy", invalid, {"responseBody": {"jq": ".["}}),
        ("a plugin that is not there", "TrafficPolicy", warned, {"plugins": {"driver": "JavaScript", "hooks": [{"phase": "Request", "name": "x", "path": "nowhere.js"}]}}),
        ("no public key", "AuthenticationPolicy", warned, {"jwt": {"publicKey": "none"}}),
        ("no network", "TrafficPolicy", invalid, {"clients": {"allow": ["10.0.0.0/99"]}}),
    ):
        rig.policy(kind, "broken", [ROUTE], settings)
        rig.eventually(f"{what}: requests are refused", lambda: isinstance(rig.ask(), int) and rig.ask() >= 400, True)
        rig.eventually(f"{what}: the status says so", lambda: rig.conditions(kind, "broken"), [said], 10)
        rig.expect(f"{what}: the other route is open", rig.response(host="other")[0], 200)
        remove(rig, kind, "broken")
        rig.eventually(f"{what}: without it, 200", rig.ask, 200)
