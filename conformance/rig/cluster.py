"""A Kubernetes cluster of one node in the network namespace that the rig runs in."""

import http.client
import json
import pathlib
import re
import secrets
import shutil
import ssl
import subprocess

from .process import Failure

# The bridge has the node's addresses; each pod is connected to it.
BRIDGE = "pods"
NODE = ["10.88.0.1", "fd00:88::1"]
PODS = ["10.88.0.0/16", "fd00:88::/64"]
# All of these are local to the namespace: a gateway can bind each without configuring it.
GATEWAYS = ["10.89.0.0/24", "fd00:89::/112"]
SERVICES = "10.96.0.0/16,fd00:96::/112"
SERVER = (NODE[0], 6443)

CONTROLLERS = [
    "deployment-controller",
    "replicaset-controller",
    "daemonset-controller",
    "statefulset-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "endpoints-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "root-ca-certificate-publisher-controller",
    "garbage-collector-controller",
    "pod-garbage-collector-controller",
]
# Where objects of these kinds are created.
PATHS = {
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "GatewayClass": "/apis/gateway.networking.k8s.io/v1/gatewayclasses",
}


def make_network():
    for command in (
        "link set lo up",
        f"link add name {BRIDGE} type bridge",
        f"addr add {NODE[0]}/{PODS[0].split('/')[1]} dev {BRIDGE}",
        f"-6 addr add {NODE[1]}/{PODS[1].split('/')[1]} dev {BRIDGE} nodad",
        f"link set {BRIDGE} up",
        f"route add local {GATEWAYS[0]} dev lo",
        f"-6 route add local {GATEWAYS[1]} dev lo",
    ):
        subprocess.run(["ip", *command.split()], check=True)


class Cluster:
    def __init__(self, directory, programs, processes):
        self.directory, self.programs, self.processes = pathlib.Path(directory), programs, processes
        # By user: the administrator's and that of the gateway.
        self.tokens = {user: secrets.token_hex(16) for user in ("admin", "tollgate")}
        self.kubeconfig = self.directory / "kubeconfig"
        self.account_key, self.token_file = self.directory / "service-accounts.pem", self.directory / "tokens.csv"
        self.authority = self.directory / "apiserver/apiserver.crt"

    def start(self, say):
        """Returns when the node is ready."""
        make_network()
        say("etcd and the API server")
        self.start_store()
        self.make_credentials()
        self.start_server()
        self.write_kubeconfig("admin", self.kubeconfig)
        say("controllers, scheduler and kubelet")
        self.start_controllers()
        self.start_kubelet()
        self.processes.wait_for("the node is ready", self.node_is_ready, 60)

    def start_store(self):
        client = "http://127.0.0.1:2379"
        self.processes.start(
            "etcd",
            *(etcd(), "--data-dir", self.directory / "etcd", "--unsafe-no-fsync", "--log-level", "warn"),
            *("--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", "http://127.0.0.1:2380"),
        )

    def make_credentials(self):
        subprocess.run(["openssl", "genrsa", "-out", self.account_key, "2048"], check=True, capture_output=True)
        self.token_file.write_text("{admin},admin,admin,system:masters\n{tollgate},tollgate,tollgate\n".format(**self.tokens))

    def start_server(self):
        self.processes.start(
            "apiserver",
            *(self.programs / "cluster", "apiserver", "--etcd-servers=http://127.0.0.1:2379", f"--token-auth-file={self.token_file}"),
            *(f"--bind-address={SERVER[0]}", f"--advertise-address={SERVER[0]}", f"--secure-port={SERVER[1]}"),
            *(f"--cert-dir={self.authority.parent}", f"--service-cluster-ip-range={SERVICES}", "--authorization-mode=RBAC"),
            *("--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={self.account_key}"),
            f"--service-account-signing-key-file={self.account_key}",
            # There is no controller that would remove the taints of a new node.
            *("--kubelet-preferred-address-types=InternalIP", "--profiling=false", "--disable-admission-plugins=TaintNodesByCondition"),
        )
        self.processes.wait_for("the API server is ready", self.server_is_ready, 120)

    def start_controllers(self):
        common = [f"--{kind}={self.kubeconfig}" for kind in ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")]
        # The defaults of 20 and 50 requests a second would slow down tests that make and delete pods.
        common += ["--authentication-skip-lookup=true", "--bind-address=127.0.0.1", "--leader-elect=false", "--kube-api-qps=300", "--kube-api-burst=600"]
        self.processes.start(
            "controller-manager",
            *(self.programs / "cluster", "controller-manager", *common, f"--cert-dir={self.directory / 'controller-manager'}"),
            *(f"--controllers={','.join(CONTROLLERS)}", f"--root-ca-file={self.authority}"),
        )
        self.processes.start(
            "scheduler", self.programs / "cluster", "scheduler", *common, f"--cert-dir={self.directory / 'scheduler'}"
        )

    def start_kubelet(self):
        self.processes.start(
            "kubelet",
            *(self.programs / "kubelet", "--kubeconfig", self.kubeconfig, "--bridge", BRIDGE, "--addresses", ",".join(NODE)),
            *("--pools", ",".join(PODS), "--roots", self.directory / "pods", "--logs", self.processes.logs / "pods"),
            *("--programs", ",".join(f"{image}={self.programs / image}" for image in ("echo-basic", "coredns"))),
        )

    def write_kubeconfig(self, user, file):
        """JSON is YAML as well."""
        cluster = {"server": f"https://{SERVER[0]}:{SERVER[1]}", "certificate-authority": str(self.authority)}
        file.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "rig", "cluster": cluster}],
                    "users": [{"name": user, "user": {"token": self.tokens[user]}}],
                    "contexts": [{"name": "rig", "context": {"cluster": "rig", "user": user}}],
                    "current-context": "rig",
                },
                indent=1,
            )
        )
        file.chmod(0o600)

    def server_is_ready(self):
        try:
            return self.request("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def node_is_ready(self):
        _, nodes = self.request("GET", "/api/v1/nodes")
        return any(
            condition["type"] == "Ready" and condition["status"] == "True"
            for node in json.loads(nodes)["items"]
            for condition in node["status"].get("conditions", [])
        )

    def install(self, files):
        """Creates what the files hold, and waits until its resources are served."""
        for file in files:
            for document in re.split(r"^---$", file.read_text(), flags=re.MULTILINE):
                if kind := re.search(r"^kind: (\w+)$", document, re.MULTILINE):
                    self.create(kind[1], document)
        self.processes.wait_for("the resources are served", self.definitions_are_established, 30)

    def create(self, kind, document):
        status, answer = self.request("POST", PATHS[kind], document)
        if status != 201:
            raise Failure(f"{kind}: {status} {answer}")

    def definitions_are_established(self):
        _, definitions = self.request("GET", PATHS["CustomResourceDefinition"])
        return all(
            any(condition["type"] == "Established" and condition["status"] == "True" for condition in definition["status"].get("conditions", []))
            for definition in json.loads(definitions)["items"]
        )

    def class_is_accepted(self):
        _, classes = self.request("GET", PATHS["GatewayClass"])
        return all(
            any(condition["type"] == "Accepted" and condition["status"] == "True" for condition in each.get("status", {}).get("conditions", []))
            for each in json.loads(classes)["items"]
        )

    def request(self, method, path, document=None, kind="application/yaml"):
        context = ssl.create_default_context(cafile=self.authority) if self.authority.exists() else ssl.create_default_context()
        connection = http.client.HTTPSConnection(*SERVER, timeout=10, context=context)
        try:
            headers = {"Authorization": f"Bearer {self.tokens['admin']}", "Content-Type": kind, "Accept": "application/json"}
            connection.request(method, path, document, headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()


def etcd():
    found = shutil.which("etcd")
    if not found:
        raise Failure("etcd is missing (Debian: apt install etcd-server)")
    return found
