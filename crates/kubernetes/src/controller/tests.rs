//! The controller against an API server that is played: what it asks, what it writes, and what it hands over.

mod api_server;

use super::{ControllerOptions, DocumentSink, control, elect};
use crate::compile::{AddressPool, Documents, IngressOptions, KeyFromSecret, ServeReport};
use crate::leader::Candidate;
use api_server::ApiServer;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A gateway that only keeps what it is given.
#[derive(Default)]
struct KeptDocuments {
    served: Mutex<Vec<Documents>>,
    backends: Mutex<Vec<BTreeMap<String, Value>>>,
    keys: Mutex<BTreeMap<String, Vec<KeyFromSecret>>>,
    /// Definitions with these in their text are not taken.
    rejects: Mutex<Vec<&'static str>>,
}

impl DocumentSink for KeptDocuments {
    fn serve(&self, documents: &Documents) -> ServeReport {
        self.served.lock().unwrap().push(documents.clone());
        let rejects = self.rejects.lock().unwrap();
        let is_rejected = |definition: &Value| rejects.iter().any(|text| definition.to_string().contains(text));
        let rejected = documents.definitions.iter().filter(|(_, definition)| is_rejected(definition));
        ServeReport {
            listeners: documents.listeners.keys().map(|name| (name.clone(), Ok(Vec::new()))).collect(),
            rejected: rejected.map(|(id, _)| (id.clone(), "$.x: is wrong".to_owned())).collect(),
            ..ServeReport::default()
        }
    }

    fn serve_keys(&self, rings: &BTreeMap<String, Vec<KeyFromSecret>>) {
        self.keys.lock().unwrap().clone_from(rings);
    }

    fn serve_backends(&self, backends: &BTreeMap<String, Value>) {
        self.backends.lock().unwrap().push(backends.clone());
    }
}

/// Starts a controller for a server.
fn start(server: &Arc<ApiServer>) -> Arc<KeptDocuments> {
    start_as(server, true)
}

fn start_as(server: &Arc<ApiServer>, writes_statuses: bool) -> Arc<KeptDocuments> {
    let sink = Arc::new(KeptDocuments::default());
    let options = ControllerOptions {
        ingress: IngressOptions::default(),
        kubeconfig: None,
        controller_name: "tollgate.dev/gateway-controller".to_owned(),
        addresses: AddressPool(vec!["10.0.0.0/24".parse().unwrap()]),
        namespaces: Vec::new(),
        lease_namespace: None,
        identity: "me".to_owned(),
        writes_statuses,
    };
    let (sender, leads) = tokio::sync::watch::channel(false);
    let candidate = writes_statuses.then(|| Candidate::new(server.client(), "default", "lease", "me"));
    tokio::spawn(elect(candidate, sender));
    tokio::spawn(control(server.client(), options, sink.clone(), leads));
    sink
}

/// Waits for an event. The clock is virtual: it only moves when nothing else does.
async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never: {what}");
}

/// Long enough for everything that follows by itself.
async fn settle() {
    tokio::time::sleep(Duration::from_secs(10)).await;
}

fn accepted(server: &ApiServer, path: &str) -> bool {
    server.object(path).is_some_and(|route| route["status"]["parents"][0]["conditions"][0]["status"] == "True")
}

const ROUTE: &str = "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes/r";

#[tokio::test(start_paused = true)]
async fn what_is_in_the_cluster_is_served_and_told_once() {
    let server = ApiServer::with_route();
    let sink = start(&server);
    eventually("the route is accepted", || accepted(&server, ROUTE)).await;
    settle().await;
    let served = sink.served.lock().unwrap().last().cloned().unwrap();
    assert!(served.definitions.contains_key("k8s-httproute-default.r"));
    assert!(served.listeners.contains_key("default/gw/http"));
    let gateway = server.object("/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/gw").unwrap();
    assert_eq!(gateway["status"]["addresses"][0]["value"], "10.0.0.1");
    // One for the class, the gateway and the route; its own writes come back as changes, which say nothing new.
    assert_eq!(server.statuses_written(), 3, "{:?}", server.requests());
    assert_eq!(sink.served.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_data_plane_serves_and_writes_nothing() {
    let server = ApiServer::with_route();
    let sink = start_as(&server, false);
    eventually("the route is served", || {
        sink.served.lock().unwrap().last().is_some_and(|served| served.definitions.contains_key("k8s-httproute-default.r"))
    })
    .await;
    settle().await;
    let written: Vec<String> = server.requests().into_iter().filter(|request| !request.starts_with("GET ")).collect();
    assert_eq!(written, [""; 0]);
    let leases = server.requests().into_iter().filter(|request| request.contains("/leases")).count();
    assert_eq!(leases, 0);
}

#[tokio::test(start_paused = true)]
async fn endpoints_change_alone() {
    let server = ApiServer::with_route();
    let sink = start(&server);
    eventually("the route is accepted", || accepted(&server, ROUTE)).await;
    settle().await;
    let slice = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/echo-1";
    server.change(slice, |slice| slice["endpoints"] = json!([{"addresses": ["10.1.0.9"]}]));
    let has_new = || {
        let backends = sink.backends.lock().unwrap();
        backends.last().is_some_and(|last| last["default/echo:8080"]["endpoints"] == json!([{"address": "10.1.0.9", "port": 3000}]))
    };
    eventually("the new endpoint is served", has_new).await;
    assert_eq!(sink.served.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn health_of_backends_and_their_endpoints_change_apart() {
    const POLICY: &str = "/apis/tollgate.dev/v1alpha1/namespaces/default/trafficpolicies/p";
    let server = ApiServer::with_route();
    let sink = start(&server);
    eventually("the route is accepted", || accepted(&server, ROUTE)).await;
    let policy = |path: &str| {
        json!({
            "kind": "TrafficPolicy",
            "metadata": {"name": "p", "namespace": "default"},
            "spec": {
                "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "r"}],
                "backendHealth": {"active": {"path": path}},
            },
        })
    };
    let last = || {
        sink.backends.lock().unwrap().last().and_then(|last| last.get("default/echo:8080+default/p").cloned()).unwrap_or_default()
    };
    server.put(POLICY, policy("/a"));
    eventually("the backend is checked", || last()["checks"] == json!({"path": "/a"})).await;
    let is_told =
        || server.object(POLICY).is_some_and(|policy| policy["status"]["ancestors"][0]["conditions"][0]["status"] == "True");
    eventually("the policy is accepted", is_told).await;
    settle().await;
    let served = sink.served.lock().unwrap().len();
    let slice = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/echo-1";
    server.change(slice, |slice| slice["endpoints"] = json!([{"addresses": ["10.1.0.9"]}]));
    eventually("the new endpoint is served", || last()["endpoints"] == json!([{"address": "10.1.0.9", "port": 3000}])).await;
    server.put(POLICY, policy("/b"));
    eventually("it is checked otherwise", || last()["checks"] == json!({"path": "/b"})).await;
    settle().await;
    assert_eq!(sink.served.lock().unwrap().len(), served, "nothing is compiled but the targets of backends");
}

#[tokio::test(start_paused = true)]
async fn who_does_not_hold_the_lease_serves_and_writes_nothing() {
    let server = ApiServer::with_route();
    server.lease_of("somebody");
    let sink = start(&server);
    eventually("the route is served", || !sink.served.lock().unwrap().is_empty()).await;
    settle().await;
    assert_eq!(server.statuses_written(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_status_that_can_not_be_written_is_written_later() {
    let server = ApiServer::with_route();
    server.refuse_statuses(true);
    start(&server);

    eventually("statuses are tried", || server.statuses_written() > 0).await;
    server.refuse_statuses(false);
    eventually("the route is accepted", || accepted(&server, ROUTE)).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_is_served_as_soon_as_it_is_installed() {
    let server = ApiServer::with_route();
    server.define("httproutes", false);
    let sink = start(&server);
    eventually("the listener is served", || !sink.served.lock().unwrap().is_empty()).await;
    settle().await;
    assert!(sink.served.lock().unwrap().iter().all(|documents| documents.definitions.is_empty()));
    server.define("httproutes", true);
    eventually("the route is served", || sink.served.lock().unwrap().last().is_some_and(|last| !last.definitions.is_empty())).await;
}

const POLICY: &str = "/apis/tollgate.dev/v1alpha1/namespaces/default/ratelimitpolicies/p";

fn limit_of_route() -> Value {
    json!({
        "kind": "RateLimitPolicy",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {
            "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "r"}],
            "limits": [{"requests": 1, "window": "1s"}],
        },
    })
}

#[tokio::test(start_paused = true)]
async fn what_the_gateway_does_not_take_is_refused_and_not_left_open() {
    // What of the definition the gateway does not take, and what it serves then.
    let cases = [("request_limits", Some("none")), ("k8s-httproute-default.r", None)];
    for (rejected, expected) in cases {
        let server = ApiServer::with_route();
        let sink = start(&server);
        eventually("the route is served", || !sink.served.lock().unwrap().is_empty()).await;
        sink.rejects.lock().unwrap().push(rejected);
        server.put(POLICY, limit_of_route());
        let is_told =
            || server.object(POLICY).is_some_and(|policy| policy["status"]["ancestors"][0]["conditions"][0]["status"] == "False");
        eventually("the policy says why", is_told).await;
        let policy = server.object(POLICY).unwrap();
        let accepted = &policy["status"]["ancestors"][0]["conditions"][0];
        assert_eq!(accepted["reason"], "Invalid");
        assert_eq!(accepted["message"], "The gateway does not serve k8s-httproute-default.r: $.x: is wrong");
        let served = sink.served.lock().unwrap().last().cloned().unwrap();
        let backends = served
            .definitions
            .get("k8s-httproute-default.r")
            .map(|definition| if definition["tollgate"]["route"]["rules"][0].get("backends").is_some() { "some" } else { "none" });
        assert_eq!(backends, expected, "{rejected}");
    }
}
