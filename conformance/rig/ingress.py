"""Ingresses with the annotations of ingress-nginx, of a class that is taken over by name: every request of a table gets what it must."""

import base64
import collections
import http.client
import json
import socket
import ssl
import subprocess

from .process import Failure

NAMESPACE = "ingress"
CLASS = "nginx"
NGINX = "nginx.ingress.kubernetes.io/"
NETWORKING = "/apis/networking.k8s.io/v1"
INGRESSES = f"{NETWORKING}/namespaces/{NAMESPACE}/ingresses"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
PATIENCE_S = 60
REQUESTS = 100
# htpasswd's hash of "secret", with SHA-1.
USERS = "joe:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="

Answer = collections.namedtuple("Answer", "status headers body")


def run(cluster, say):
    """Returns what went wrong."""
    certificate = setup(cluster)
    for name, annotations, spec in ingresses():
        create_ingress(cluster, name, annotations, spec)
    gateway = cluster.processes.wait_for("the Ingresses have an address", lambda: address(cluster), PATIENCE_S)
    ask = lambda *arguments, **options: request(gateway, certificate, *arguments, **options)
    cluster.processes.wait_for("an Ingress is served", lambda: ask("plain.test", "/").status == 200, PATIENCE_S)
    failures = []
    for name, check in checks(ask):
        outcome = check()
        say(f"    {name}: {'ok' if outcome is True else outcome}")
        if outcome is not True:
            failures.append(name)
    failures += lifecycle(cluster, ask, say)
    return failures


def ingresses():
    """Name, annotations without their prefix, and spec of each."""
    yield "plain", {}, rules("plain.test", ("/", "Prefix"))
    yield "paths", {}, rules("paths.test", ("/exact", "Exact"), ("/prefix", "Prefix"), ("/chars", "ImplementationSpecific"))
    yield "wild", {}, rules("*.wild.test", ("/", "Prefix"))
    yield "secure", {}, {"tls": [{"hosts": ["secure.test"], "secretName": "certificate"}], **rules("secure.test", ("/", "Prefix"))}
    yield "passed", {"ssl-passthrough": "true"}, rules("passed.test", ("/", "Prefix"), service="passed")
    yield "moved", {"permanent-redirect": "https://new.test$request_uri"}, rules("moved.test", ("/", "Prefix"))
    yield "root", {"app-root": "/app"}, rules("root.test", ("/", "Prefix"))
    yield "rewrite", {"rewrite-target": "/$2"}, rules("rewrite.test", ("/api(/|$)(.*)", "ImplementationSpecific"))
    yield "main", {}, rules("canary.test", ("/", "Prefix"))
    canary = {"canary": "true", "canary-weight": "30", "canary-by-header": "X-Canary"}
    yield "canary", canary, rules("canary.test", ("/", "Prefix"), service="canary")
    yield "users", {"auth-type": "basic", "auth-secret": "users"}, rules("users.test", ("/", "Prefix"))
    yield "nobody", {"auth-type": "basic", "auth-secret": "missing"}, rules("nobody.test", ("/", "Prefix"))
    yield "near", {"whitelist-source-range": "10.0.0.0/8"}, rules("near.test", ("/", "Prefix"))
    yield "far", {"whitelist-source-range": "192.0.2.0/24"}, rules("far.test", ("/", "Prefix"))
    yield "limited", {"limit-rpm": "2", "limit-burst-multiplier": "2"}, rules("limited.test", ("/", "Prefix"))
    yield "snippet", {"configuration-snippet": 'more_set_headers "X-Frame-Options: DENY";\nadd_header X-Team shop always;'}, rules("snippet.test", ("/", "Prefix"))
    yield "denied", {"configuration-snippet": "deny all;"}, rules("denied.test", ("/", "Prefix"))
    yield "server", {"server-snippet": "deny all;"}, rules("server.test", ("/", "Prefix"))
    own_rules = 'SecRuleEngine On\nSecRule ARGS:coupon "!@rx ^[A-Z0-9]{8}$" "id:1000001,phase:2,deny"'
    yield "firewall", {"enable-modsecurity": "true", "modsecurity-snippet": own_rules}, rules("firewall.test", ("/", "Prefix"))


def checks(ask):
    """Name, and a function that returns True or what was wrong."""

    def has(status, **expected):
        def of(answer):
            said = {"path": answer.body.get("path"), "location": answer.headers.get("location")}
            wrong = {name: said[name] for name, value in expected.items() if said[name] != value}
            return True if answer.status == status and not wrong else f"{answer.status} {wrong} {answer.body}"

        return of

    def each(*wanted):
        def check():
            for arguments, options, of in wanted:
                if (outcome := of(ask(*arguments, **options))) is not True:
                    return f"{arguments}: {outcome}"
            return True

        return check

    yield "hosts and paths", each(
        (("plain.test", "/a"), {}, has(200, path="/a")),
        (("nobody-has.test", "/"), {}, has(404)),
        (("paths.test", "/exact"), {}, has(200)),
        (("paths.test", "/exact/more"), {}, has(404)),
        (("paths.test", "/prefix/more"), {}, has(200)),
        (("paths.test", "/prefixed"), {}, has(404)),
        (("paths.test", "/charset"), {}, has(200)),
        (("a.wild.test", "/"), {}, has(200)),
        (("b.a.wild.test", "/"), {}, has(404)),
    )
    yield "TLS, and the redirect to it", each(
        (("secure.test", "/a"), {}, has(308, location="https://secure.test/a")),
        (("secure.test", "/a"), {"tls": True}, has(200, path="/a")),
    )
    # Only the pod has the certificate of this host.
    yield "TLS that ends at a pod", each(
        (("passed.test", "/a"), {}, has(308, location="https://passed.test/a")),
        (("passed.test", "/a"), {"tls": True}, has(200, path="/a")),
        (("secure.test", "/a"), {"tls": True}, has(200, path="/a")),
    )
    yield "redirects", each(
        (("moved.test", "/a?b=c"), {}, has(301, location="https://new.test/a?b=c")),
        (("root.test", "/"), {}, has(302, location="http://root.test/app")),
        (("root.test", "/other"), {}, has(200, path="/other")),
    )
    yield "rewritten paths", each(
        (("rewrite.test", "/api/a/b"), {}, has(200, path="/a/b")),
        (("rewrite.test", "/API"), {}, has(200, path="/")),
        (("rewrite.test", "/other"), {}, has(404)),
    )
    yield "a canary", lambda: canary(ask)
    yield "users", each(
        (("users.test", "/"), {}, has(401)),
        (("users.test", "/"), {"headers": basic("joe", "secret")}, has(200)),
        (("users.test", "/"), {"headers": basic("joe", "other")}, has(401)),
        (("nobody.test", "/"), {"headers": basic("joe", "secret")}, has(503)),
    )
    yield "networks", each((("near.test", "/"), {}, has(200)), (("far.test", "/"), {}, has(403)))
    yield "snippets", each(
        (("snippet.test", "/"), {}, lambda answer: answer.headers.get("x-frame-options") == "DENY" and answer.headers.get("x-team") == "shop" or f"{answer}"),
        (("denied.test", "/"), {}, has(403)),
        (("server.test", "/"), {}, has(503)),
    )
    yield "a firewall", each((("firewall.test", "/?coupon=ABCD1234"), {}, has(200)), (("firewall.test", "/?coupon=no"), {}, has(403)))

    def limited():
        statuses = [ask("limited.test", "/").status for _ in range(6)]
        return True if statuses == [200] * 4 + [429] * 2 else f"{statuses}"

    yield "a limit", limited


def canary(ask):
    pods = collections.Counter(ask("canary.test", "/").body.get("pod") for _ in range(REQUESTS))
    # Of 100 requests at 30 percent, fewer than 10 or more than 55 come once in a million runs.
    if not 10 <= pods["canary"] <= 55:
        return f"{pods}"
    for value, wanted in (("always", "canary"), ("never", "echo")):
        pods = {ask("canary.test", "/", headers={"X-Canary": value}).body.get("pod") for _ in range(10)}
        if pods != {wanted}:
            return f"{value}: {pods}"
    return True


def lifecycle(cluster, ask, say):
    """An Ingress that changes its class or goes is not served any more."""
    failures = []
    for name, act, status in (
        ("of another class", lambda: patch(cluster, "plain", {"spec": {"ingressClassName": "other"}}), 404),
        ("back", lambda: patch(cluster, "plain", {"spec": {"ingressClassName": CLASS}}), 200),
        ("gone", lambda: cluster.request("DELETE", f"{INGRESSES}/plain"), 404),
    ):
        act()
        try:
            cluster.processes.wait_for(f"an Ingress that is {name}", lambda: ask("plain.test", "/").status == status, PATIENCE_S)
            say(f"    an Ingress that is {name}: ok")
        except Failure as failure:
            say(f"    {failure}")
            failures.append(name)
    return failures


def setup(cluster):
    """The namespace, backends, the class of ingress-nginx, secrets. Returns the certificates."""
    create(cluster, "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for name in ("echo", "canary"):
        create_backend(cluster, name, 3000, {})
    create(cluster, f"{NETWORKING}/ingressclasses", {"metadata": {"name": CLASS}, "spec": {"controller": "k8s.io/ingress-nginx"}})
    certificate = create_certificate(cluster, "certificate", "secure.test")
    passed = create_certificate(cluster, "certificate-of-pod", "passed.test")
    folder = "/etc/certificate"
    variables = {"TLS_SERVER_CERT": f"{folder}/tls.crt", "TLS_SERVER_PRIVKEY": f"{folder}/tls.key"}
    create_backend(cluster, "passed", 8443, variables, secret=("certificate-of-pod", folder))
    create(cluster, f"{CORE}/secrets", {"metadata": {"name": "users"}, "data": {"auth": encoded(USERS)}})
    return certificate + passed


def create_backend(cluster, name, port, variables, secret=None):
    """A pod that says what it was asked, and its service. `secret` is the name of one, and the folder in which the pod has it."""
    labels = {"app": name}
    variables = [{"name": variable, "value": value} for variable, value in {"POD_NAME": name, **variables}.items()]
    container, volumes = {"name": "echo", "image": "echo-basic", "env": variables}, []
    if secret:
        container["volumeMounts"] = [{"name": "secret", "mountPath": secret[1]}]
        volumes = [{"name": "secret", "secret": {"secretName": secret[0]}}]
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": volumes}}
    spec = {"selector": {"matchLabels": labels}, "template": pod}
    create(cluster, f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments", {"metadata": {"name": name}, "spec": spec})
    ports = [{"name": "web", "port": 80, "targetPort": port}]
    create(cluster, f"{CORE}/services", {"metadata": {"name": name}, "spec": {"selector": labels, "ports": ports}})


def create_certificate(cluster, name, host):
    certificate, key = make_certificate(cluster.directory, host)
    data = {"tls.crt": encoded(certificate), "tls.key": encoded(key)}
    create(cluster, f"{CORE}/secrets", {"metadata": {"name": name}, "type": "kubernetes.io/tls", "data": data})
    return certificate


def make_certificate(folder, host):
    certificate, key = folder / f"{host}.crt", folder / f"{host}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={host}",
         "-addext", f"subjectAltName=DNS:{host}", "-out", certificate, "-keyout", key],
        check=True, capture_output=True,
    )
    return certificate.read_text(), key.read_text()


def rules(host, *paths, service="echo"):
    backend = {"service": {"name": service, "port": {"name": "web"}}}
    return {"rules": [{"host": host, "http": {"paths": [{"path": path, "pathType": kind, "backend": backend} for path, kind in paths]}}]}


def create_ingress(cluster, name, annotations, spec):
    metadata = {"name": name, "annotations": {NGINX + annotation: value for annotation, value in annotations.items()}}
    create(cluster, INGRESSES, {"metadata": metadata, "spec": {"ingressClassName": CLASS, **spec}})


def create(cluster, path, document):
    status, answer = cluster.request("POST", path, json.dumps(document))
    if status != 201:
        raise Failure(f"POST {path}: {status} {answer}")


def patch(cluster, name, change):
    cluster.request("PATCH", f"{INGRESSES}/{name}", json.dumps(change), "application/merge-patch+json")


def address(cluster):
    """The address, once all Ingresses have it."""
    _, answer = cluster.request("GET", INGRESSES)
    statuses = [each.get("status", {}).get("loadBalancer", {}).get("ingress", []) for each in json.loads(answer)["items"]]
    return statuses[0][0]["ip"] if statuses and all(statuses) else None


def request(gateway, certificate, host, path, headers=None, tls=False):
    port = 443 if tls else 80
    connection = http.client.HTTPConnection(gateway, port, timeout=10)
    try:
        if tls:
            context = ssl.create_default_context(cadata=certificate)
            connection.sock = context.wrap_socket(socket.create_connection((gateway, port), 10), server_hostname=host)
        connection.request("GET", path, headers={"Host": host, **(headers or {})})
        response = connection.getresponse()
        body = response.read()
        return Answer(response.status, response.headers, json.loads(body) if body.startswith(b"{") else {})
    except OSError as error:
        return Answer(type(error).__name__, {}, {})
    finally:
        connection.close()


def basic(user, password):
    return {"Authorization": "Basic " + encoded(f"{user}:{password}")}


def encoded(text):
    return base64.b64encode(text.encode()).decode()
