use super::*;
use serde_json::{Value, json};

fn problems(tables: &Value) -> Vec<String> {
    let problems = match RoutingTables::parse(tables.to_string().as_bytes(), None) {
        Ok((_, problems)) | Err(problems) => problems,
    };
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn tables_as_they_are_meant_have_no_problems() {
    let tables = json!({
        "listeners": {
            "web": {"addresses": ["10.0.0.1", "::1"], "port": 443, "protocol": "https", "host": "*.example.com", "tls": {
                "certificates": ["PEM"], "client_certificates": {"authorities": ["PEM"], "insecure_fallback": true}
            }},
            "pass": {"port": 8443, "protocol": "tls", "tls": {"passthrough": true}}
        },
        "backends": {
            "none": {},
            "well": {"health": {"consecutive_faults": 3, "statuses": [500]}, "checks": {"path": "/health", "statuses": [200]}},
            "connected": {"protocol": "h2c", "checks": {"interval_ms": 1000}},
            "one": {"protocol": "https", "endpoints": [{"address": "10.0.0.2", "port": 80}], "tls": {"host": "a.test", "names": ["uri:a://b"]}}
        }
    });
    assert_eq!(problems(&tables), [""; 0]);
}

#[test]
fn each_problem_has_its_place() {
    let tables = json!({
        "listeners": {
            "a": {"addresses": ["localhost"], "host": "*", "tls": {"certificates": ["PEM"]}},
            "b": {"port": 1, "protocol": "https", "tls": {"client_certificates": {}, "passthrough": true, "autorities": 1}},
            "c": {"port": 1, "protocol": "quic"}
        },
        "backends": {
            "d": {"endpoints": [{"address": "a.test"}], "tls": {"host": "x", "names": ["a.test"]}},
            "e": {"health": {"interval_ms": 0, "statuses": [1]}, "checks": {"path": "health", "rise": 0, "falls": 1}},
            "f": {"protocol": "udp", "checks": {}},
            "g": {"protocol": "h2c", "checks": {"path": "/health"}}
        },
        "more": 1
    });
    assert_eq!(
        problems(&tables),
        [
            "$.listeners.c.protocol: error: must be one of \"http\", \"https\", \"tls\", \"tcp\", \"udp\", not \"quic\"",
            "$.more: ignored: unknown field",
            "$.listeners.b.tls.autorities: error: unknown field",
            "$.backends.e.checks.falls: error: unknown field",
            "$.listeners.a.addresses[0]: error: \"localhost\" is not an IP address",
            "$.listeners.a.port: error: must be from 1 to 65535",
            "$.listeners.a.host: error: \"*\" is not a host such as example.com or *.example.com",
            "$.listeners.a.tls: error: needs the protocol https or tls",
            "$.listeners.b.tls.passthrough: error: needs the protocol tls",
            "$.listeners.b.tls.client_certificates.authorities: error: must have an entry",
            "$.backends.d.endpoints[0].address: error: \"a.test\" is not an IP address",
            "$.backends.d.endpoints[0].port: error: must be from 1 to 65535",
            "$.backends.d.tls: error: needs the protocol https or tls",
            "$.backends.e.health.interval_ms: error: must not be 0",
            "$.backends.e.health.statuses[0]: error: is not the status of a response",
            "$.backends.e.checks.rise: error: must not be 0",
            "$.backends.e.checks.path: error: must be a path such as /health",
            "$.backends.f.checks: error: needs a protocol with connections",
            "$.backends.g.checks.path: warning: has no effect: endpoints of this protocol are only connected to",
        ]
    );
}

#[test]
fn sockets_are_bounded_and_hosts_at_one_are_many() {
    let tables = |ports: u16, hosts: usize| RoutingTables {
        listeners: (0..hosts)
            .flat_map(|host| (1..=ports).map(move |port| (host, port)))
            .map(|(host, port)| {
                let listener = RouteListener { port, host: format!("h{host}.test"), ..RouteListener::default() };
                (format!("{host}-{port}"), listener)
            })
            .collect(),
        backends: BTreeMap::new(),
    };
    assert!(tables(2, 5_000).problems().is_empty());
    let told = tables(1_025, 1).problems();
    assert_eq!(
        told.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["$.listeners: error: must have at most 1024 addresses and ports together"]
    );
}
