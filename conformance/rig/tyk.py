"""Resources of Tyk Operator against a real API server: what is applied is served, with keys; what breaks stays in service; what is deleted goes."""

import base64
import http.client
import http.server
import json
import subprocess
import threading

from .build import FOLDER
from .process import Failure

CONTROL_SECRET = "of-this-rig"
GATEWAY = ("127.0.0.1", 8080)
NAMESPACE = "tyk"
GROUP = f"/apis/tyk.tyk.io/v1alpha1/namespaces/{NAMESPACE}"
PATIENCE_S = 30
DEFINITIONS = FOLDER.parent / "deploy/kubernetes/tyk-crds.yaml"


def run(cluster, say):
    """Returns what went wrong."""
    say("definitions of Tyk's resources")
    cluster.install([DEFINITIONS])
    upstream = Upstream()
    cluster.request("POST", "/api/v1/namespaces", json.dumps({"metadata": {"name": NAMESPACE}}))
    failures = []
    for name, check in (
        ("an API with keys and a policy", check_keys),
        ("a policy of the cluster is not changed by the control API", check_policy_is_fixed),
        ("an OpenAPI document", check_document),
        ("a certificate of a Secret", check_certificate),
        ("deletion, with the operator's finalizer", check_deletion),
    ):
        say(name)
        try:
            check(cluster, upstream.url)
        except (Failure, OSError) as failure:
            say(f"    {failure}")
            failures.append(name)
    return failures


class Upstream:
    """Answers all requests with their paths."""

    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = self.path.encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def check_keys(cluster, upstream):
    proxy = {"target_url": upstream, "listen_path": "/catalog/", "strip_listen_path": True}
    api = {"name": "Catalog", "protocol": "http", "active": True, "use_standard_auth": True, "proxy": proxy}
    apply(cluster, "apidefinitions", "ApiDefinition", "catalog", api)
    rights = [{"name": "catalog", "namespace": NAMESPACE, "versions": ["Default"]}]
    policy = {"name": "Gold", "state": "active", "active": True, "rate": 100, "per": 1, "access_rights_array": rights, "partitions": {"acl": True, "rate_limit": True}}
    apply(cluster, "securitypolicies", "SecurityPolicy", "gold", policy)
    wait(cluster, "apidefinitions/catalog", "it is served", lambda status: status["latestTransaction"]["status"] == "Successful")
    api_id, policy_id = encoded("catalog"), encoded("gold")
    status = wait(cluster, "apidefinitions/catalog", "its policy is known", lambda status: status.get("linked_by_policies"))
    expect(status["api_id"], api_id)
    expect(status["linked_by_policies"], [{"name": "gold", "namespace": NAMESPACE}])
    expect(wait(cluster, "securitypolicies/gold", "it is read", lambda status: status.get("pol_id"))["pol_id"], policy_id)
    expect(ask("/catalog/shoes")[0], 401)
    made = control("POST", "/tyk/keys", {"apply_policies": [policy_id], "org_id": ""})
    key = json.loads(made[1])["key"]
    expect(ask("/catalog/shoes", {"Authorization": key}), (200, "/shoes"))
    # What is as it should be is not written again.
    version = cluster_version(cluster, "apidefinitions/catalog")
    apply(cluster, "apidefinitions", "ApiDefinition", "other", {**api, "proxy": {**proxy, "listen_path": "/other/"}})
    wait(cluster, "apidefinitions/other", "it is served", lambda status: status["latestTransaction"]["status"] == "Successful")
    expect(cluster_version(cluster, "apidefinitions/catalog"), version)


def check_policy_is_fixed(cluster, upstream):
    policy_id = encoded("gold")
    status, shown = control("GET", f"/tyk/policies/{policy_id}")
    expect((status, json.loads(shown)["rate"]), (200, 100))
    expect(control("PUT", f"/tyk/policies/{policy_id}", {"id": policy_id, "rate": 1})[0] // 100, 4)
    expect(control("DELETE", f"/tyk/policies/{policy_id}")[0], 403)
    expect(json.loads(control("GET", f"/tyk/policies/{policy_id}")[1])["rate"], 100)


def check_document(cluster, upstream):
    extension = {
        "info": {"name": "Documented", "state": {"active": True}},
        "upstream": {"url": upstream},
        "server": {"listenPath": {"value": "/documented/", "strip": True}},
    }
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {}, "x-tyk-api-gateway": extension}
    config_map(cluster, "document", {"doc.json": json.dumps(document), "other": "text"})
    spec = {"tykOAS": {"configmapRef": {"name": "document", "namespace": NAMESPACE, "keyName": "doc.json"}}}
    apply(cluster, "tykoasapidefinitions", "TykOasApiDefinition", "documented", spec)
    status = wait(cluster, "tykoasapidefinitions/documented", "it is served", lambda status: status["latestTransaction"]["status"] == "Successful")
    expect((status["id"], status["listenPath"], status["enabled"]), (encoded("documented"), "/documented/", True))
    expect(ask("/documented/x"), (200, "/x"))
    # A broken document leaves the one that could be used.
    extension["upstream"]["url"] = 5
    for broken in (json.dumps(document), "x-tyk-api-gateway"):
        config_map(cluster, "document", {"doc.json": broken})
        wait(cluster, "tykoasapidefinitions/documented", "it is said", lambda status: status["latestTransaction"]["status"] == "Failed")
        expect(ask("/documented/x"), (200, "/x"))
    extension["upstream"]["url"] = upstream
    config_map(cluster, "document", {"doc.json": json.dumps(document)})
    wait(cluster, "tykoasapidefinitions/documented", "it is mended", lambda status: status["latestTransaction"]["status"] == "Successful")


def check_certificate(cluster, upstream):
    folder = cluster.directory
    key, certificate = folder / "client.key", folder / "client.crt"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=client", "-days", "2"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    proxy = {"target_url": upstream, "listen_path": "/secured/", "strip_listen_path": True}
    api = {"name": "Secured", "protocol": "http", "active": True, "use_keyless": True, "proxy": proxy, "upstream_certificate_refs": {"*": "client"}}
    apply(cluster, "apidefinitions", "ApiDefinition", "secured", api)
    status = wait(cluster, "apidefinitions/secured", "it is refused", lambda status: status["latestTransaction"]["status"] == "Failed")
    expect(status["latestTransaction"]["error"], f"spec.upstream_certificate_refs.*: the Secret {NAMESPACE}/client does not exist")
    data = {name: base64.b64encode(file.read_bytes()).decode() for name, file in (("tls.crt", certificate), ("tls.key", key))}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "client"}, "type": "kubernetes.io/tls", "data": data}
    put(cluster, f"/api/v1/namespaces/{NAMESPACE}/secrets/client", secret)
    wait(cluster, "apidefinitions/secured", "it is served", lambda status: status["latestTransaction"]["status"] == "Successful")
    expect(ask("/secured/x"), (200, "/x"))
    listed = json.loads(control("GET", "/tyk/certs")[1])["certs"]
    expect(len(listed), 1)
    expect(control("DELETE", f"/tyk/certs/{listed[0]}")[0], 403)


def check_deletion(cluster, upstream):
    proxy = {"target_url": upstream, "listen_path": "/leaving/", "strip_listen_path": True}
    api = {"name": "Leaving", "protocol": "http", "active": True, "use_keyless": True, "proxy": proxy}
    apply(cluster, "apidefinitions", "ApiDefinition", "leaving", api, {"finalizers": ["finalizers.tyk.io/apidefinition"]})
    wait(cluster, "apidefinitions/leaving", "it is served", lambda status: status["latestTransaction"]["status"] == "Successful")
    expect(ask("/leaving/x")[0], 200)
    for name in ("leaving", "catalog"):
        status, answer = cluster.request("DELETE", f"{GROUP}/apidefinitions/{name}")
        if status != 200:
            raise Failure(f"{name} is not deleted: {answer}")
    is_gone = lambda: cluster.request("GET", f"{GROUP}/apidefinitions/leaving")[0] == 404
    cluster.processes.wait_for("the object is gone", is_gone, PATIENCE_S)
    cluster.processes.wait_for("its API is gone", lambda: ask("/leaving/x")[0] == 404, PATIENCE_S)
    cluster.processes.wait_for("the other API is gone", lambda: ask("/catalog/x")[0] == 404, PATIENCE_S)


def apply(cluster, plural, kind, name, spec, metadata=None):
    document = {"apiVersion": "tyk.tyk.io/v1alpha1", "kind": kind, "metadata": {"name": name, **(metadata or {})}, "spec": spec}
    put(cluster, f"{GROUP}/{plural}/{name}", document)


def config_map(cluster, name, data):
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
    put(cluster, f"/api/v1/namespaces/{NAMESPACE}/configmaps/{name}", document)


def put(cluster, path, document):
    status, answer = cluster.request("PATCH", f"{path}?fieldManager=rig&force=true", json.dumps(document), "application/apply-patch+yaml")
    if status not in (200, 201):
        raise Failure(f"PATCH {path}: {status} {answer}")


def wait(cluster, path, what, holds):
    """Waits for a status, and returns it."""
    last = {}

    def look():
        last["status"] = json.loads(cluster.request("GET", f"{GROUP}/{path}")[1]).get("status", {})
        return bool(last["status"]) and holds(last["status"])

    try:
        cluster.processes.wait_for(f"{path}: {what}", look, PATIENCE_S)
    except Failure as failure:
        raise Failure(f"{failure}: {json.dumps(last)}") from failure
    return last["status"]


def cluster_version(cluster, path):
    return json.loads(cluster.request("GET", f"{GROUP}/{path}")[1])["metadata"]["resourceVersion"]


def encoded(name):
    return base64.urlsafe_b64encode(f"{NAMESPACE}/{name}".encode()).decode().rstrip("=")


def expect(is_, should_be):
    if is_ != should_be:
        raise Failure(f"{is_!r} is not {should_be!r}")


def control(method, path, document=None):
    headers = {"x-tyk-authorization": CONTROL_SECRET, "Content-Type": "application/json"}
    return send(method, path, document and json.dumps(document), headers)


def ask(path, headers=None):
    return send("GET", path, None, headers or {})


def send(method, path, body, headers):
    connection = http.client.HTTPConnection(*GATEWAY, timeout=10)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()
