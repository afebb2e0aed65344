//! The health of the endpoints of backends: what takes one out, that it comes back, and what stays as it is while others come and go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::harness::nginx::Nginx;
use crate::harness::{Gateway, Setup, Upstream, api, eventually, get, reply};

const LONG_MS: u64 = 600_000;

fn endpoint(port: u16) -> Value {
    json!({"address": "127.0.0.1", "port": port})
}

/// A gateway with a route of each backend below its name, and the file with the backends.
fn start(backends: &Value) -> (Gateway, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("routing.json");
    std::fs::write(&file, json!({"backends": backends}).to_string()).unwrap();
    let rules: Vec<Value> = backends
        .as_object()
        .unwrap()
        .keys()
        .map(|name| json!({"matches": [{"path": {"prefix": format!("/{name}")}}], "backends": [{"backend": name}]}))
        .collect();
    let definition = api("r", "/", "").set("tollgate/route/rules", json!(rules));
    (Setup::new(json!({"tollgate": {"routing_file": file}})).api(definition).start(), dir)
}

/// An upstream that answers with its name, or with 500 while it is ill.
fn named(name: &'static str) -> (Upstream, Arc<AtomicBool>) {
    let is_ill = Arc::new(AtomicBool::new(false));
    let switch = is_ill.clone();
    let upstream = Upstream::start(move |_| match switch.load(Ordering::SeqCst) {
        true => reply("500 Ill", &[], name),
        false => reply("200 OK", &[], name),
    });
    (upstream, is_ill)
}

fn never(gateway: &Gateway, path: &str, name: &str) {
    let mut client = gateway.connect();
    for _ in 0..50 {
        assert_ne!(client.ask(get(path)).text(), name, "{path}");
    }
}

#[test]
fn an_endpoint_that_answers_with_errors_is_taken_out_and_comes_back() {
    let (one, is_ill) = named("one");
    let (two, _) = named("two");
    let backend = |ejected_ms: u64| {
        json!({
            "endpoints": [endpoint(one.port()), endpoint(two.port())],
            "health": {"consecutive_faults": 2, "fault_percent": 0, "statuses": [500], "ejected_ms": ejected_ms, "ejected_ms_max": ejected_ms, "slow_start_ms": 0},
        })
    };
    let without = json!({"endpoints": [endpoint(one.port()), endpoint(two.port())]});
    let (gateway, _dir) = start(&json!({"long": backend(LONG_MS), "short": backend(100), "without": without}));
    is_ill.store(true, Ordering::SeqCst);
    let ejected = |backend: &str| {
        gateway.get(&format!("/{backend}"));
        gateway.log().lines().any(|line| line.contains("target ejected") && line.contains(backend))
    };
    eventually("it is taken out for long", || ejected("long"));
    eventually("it is taken out for a moment", || ejected("short"));
    never(&gateway, "/long", "one");
    is_ill.store(false, Ordering::SeqCst);
    eventually("it comes back", || gateway.get("/short").text() == "one");
    never(&gateway, "/long", "one");
    // Without rules, responses say nothing.
    is_ill.store(true, Ordering::SeqCst);
    eventually("responses take nothing out", || gateway.get("/without").status == 500);
    (0..20).for_each(|_| drop(gateway.get("/without")));
    eventually("it still gets requests", || gateway.get("/without").status == 500);
}

/// A policy of a route in a cluster, as it is compiled for the gateway.
#[cfg(feature = "kubernetes")]
#[test]
fn a_policy_of_a_cluster_takes_endpoints_out_and_lets_them_in_again() {
    let (one, is_ill) = named("one");
    let (two, _) = named("two");
    let slice = |name: &str, port: u16| {
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"name": name, "namespace": "shop", "labels": {"kubernetes.io/service-name": "s"}},
            "ports": [{"name": "", "port": port}], "endpoints": [{"addresses": ["127.0.0.1"]}],
        })
    };
    let gateway_api = "gateway.networking.k8s.io/v1";
    let objects = vec![
        json!({"apiVersion": gateway_api, "kind": "GatewayClass", "metadata": {"name": "c"}, "spec": {"controllerName": "tollgate.dev/gateway-controller"}}),
        json!({"apiVersion": gateway_api, "kind": "Gateway", "metadata": {"name": "g", "namespace": "shop"},
            "spec": {"gatewayClassName": "c", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "shop"}, "spec": {"ports": [{"port": 80}]}}),
        slice("a", one.port()),
        slice("b", two.port()),
        json!({"apiVersion": gateway_api, "kind": "HTTPRoute", "metadata": {"name": "r", "namespace": "shop"},
            "spec": {"parentRefs": [{"name": "g"}], "rules": [{"backendRefs": [{"name": "s", "port": 80}]}]}}),
        json!({"apiVersion": "tollgate.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {"name": "p", "namespace": "shop"},
        "spec": {
            "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "r"}],
            "backendHealth": {
                "passive": {"consecutiveFailures": 2, "statuses": [500], "ejectFor": "10ms", "maxEjectFor": "10ms"},
                "active": {"path": "/health", "interval": "100ms", "timeout": "10s", "healthyThreshold": 2, "unhealthyThreshold": 2, "statuses": [200]},
            },
        }}),
    ];
    let checked = tollgate_kubernetes::check_manifests(objects);
    assert_eq!((&checked.unreadable, &checked.conditions), (&vec![], &vec![]));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("routing.json");
    std::fs::write(&file, json!({"backends": checked.documents.backends}).to_string()).unwrap();
    let (_, definition) = checked.documents.definitions.into_iter().next().unwrap();
    // At the gateway's own port.
    let definition = api("r", "/", "").set("tollgate/route/rules", definition["tollgate"]["route"]["rules"].clone());
    let gateway = Setup::new(json!({"tollgate": {"routing_file": file}})).api(definition).start();
    eventually("both get requests", || gateway.get("/").text() == "one");
    is_ill.store(true, Ordering::SeqCst);
    eventually("its responses show it", || {
        gateway.get("/");
        gateway.log().contains("target ejected")
    });
    eventually("its checks show it", || gateway.log().contains("HostDown"));
    never(&gateway, "/", "one");
    is_ill.store(false, Ordering::SeqCst);
    eventually("it gets requests again", || gateway.get("/").text() == "one");
}

#[test]
fn endpoints_that_fail_their_checks_or_refuse_connections_are_out_until_they_do_not() {
    let mut nginx: Vec<Nginx> = (0..2).map(|number| Nginx::start(&format!("location / {{ return 200 {number}; }}"))).collect();
    let endpoints = json!([endpoint(nginx[0].port), endpoint(nginx[1].port)]);
    let (one, is_ill) = named("one");
    let (two, _) = named("two");
    let checks = |path: &str| json!({"path": path, "statuses": [200], "interval_ms": 50, "fall": 2, "rise": 2});
    let health = json!({"slow_start_ms": 0, "consecutive_faults": 0, "fault_percent": 0, "statuses": []});
    let (gateway, _dir) = start(&json!({
        "asked": {"endpoints": [endpoint(one.port()), endpoint(two.port())], "checks": checks("/health"), "health": health},
        "connected": {"endpoints": endpoints, "checks": checks(""), "health": health},
    }));
    eventually("both get requests", || gateway.get("/asked").text() == "one");
    eventually("both get connections", || gateway.get("/connected").text() == "0");
    is_ill.store(true, Ordering::SeqCst);
    nginx[0].kill();
    let downs = || gateway.log().lines().filter(|line| line.contains("HostDown")).count();
    eventually("both are found", || downs() == 2);
    never(&gateway, "/asked", "one");
    never(&gateway, "/connected", "0");
    is_ill.store(false, Ordering::SeqCst);
    nginx[0] = Nginx::start_at(nginx[0].port, "", "location / { return 200 0; }");
    eventually("the one gets requests again", || gateway.get("/asked").text() == "one");
    eventually("the other gets connections again", || gateway.get("/connected").text() == "0");
}

#[test]
fn what_is_known_of_an_endpoint_stays_while_others_come_and_go() {
    let (one, one_is_ill) = named("one");
    let (two, _) = named("two");
    let (three, three_is_ill) = named("three");
    let health = json!({"consecutive_faults": 1, "fault_percent": 0, "statuses": [500], "ejected_ms": LONG_MS, "ejected_ms_max": LONG_MS, "slow_start_ms": 0});
    let checks = json!({"path": "/health", "interval_ms": 50, "fall": 1, "rise": 1_000_000});
    let backends = |endpoints: &[&Upstream]| {
        let endpoints: Vec<Value> = endpoints.iter().map(|upstream| endpoint(upstream.port())).collect();
        json!({
            "passive": {"endpoints": endpoints, "health": health},
            "checked": {"endpoints": endpoints, "checks": checks, "health": {"slow_start_ms": 0, "consecutive_faults": 0, "fault_percent": 0}},
        })
    };
    let (gateway, dir) = start(&backends(&[&one, &two]));
    one_is_ill.store(true, Ordering::SeqCst);
    eventually("the checks find it", || gateway.log().contains("HostDown"));
    eventually("its responses show it", || {
        gateway.get("/passive");
        gateway.log().contains("target ejected")
    });
    // It would get requests if it were new.
    one_is_ill.store(false, Ordering::SeqCst);
    std::fs::write(dir.path().join("routing.json"), json!({"backends": backends(&[&three, &one, &two])}).to_string()).unwrap();
    gateway.reload();
    for path in ["/passive", "/checked"] {
        eventually("the new one gets requests", || gateway.get(path).text() == "three");
        never(&gateway, path, "one");
    }
    let before = gateway.log().lines().filter(|line| line.contains("HostDown")).count();
    three_is_ill.store(true, Ordering::SeqCst);
    eventually("the new one is checked as well", || {
        gateway.log().lines().filter(|line| line.contains("HostDown")).count() > before
    });
    never(&gateway, "/checked", "one");
}
