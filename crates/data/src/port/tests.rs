use super::{ApiPort, PortProtocol, PortRules, PortTerms, SnapshotPort};
use crate::route::Router;
use serde_json::{Value, json};
use tollgate_model::config::GatewayConfig;

fn rules(over: Value) -> PortRules {
    let mut config = serde_json::to_value(GatewayConfig::default()).unwrap();
    config["listen_port"] = json!(8080);
    over.as_object().unwrap().iter().for_each(|(name, value)| config[name] = value.clone());
    PortRules::new(&serde_json::from_value(config).unwrap())
}

#[test]
fn a_definition_opens_only_ports_that_its_protocol_may_have() {
    // As in `TestCheckPortWhiteList` of gateway/proxy_muxer_test.go, Tyk v5.14.
    let allowed = json!({"ports_whitelist": {
        "tcp": {"ports": [9000], "ranges": [{"from": 7000, "to": 7002}]},
        "http": {"ranges": [{"from": 8090, "to": 8091}]},
    }});
    for (port, protocol, expected) in [
        (0, "", Some((0, PortProtocol::Http))),
        (8080, "http", Some((0, PortProtocol::Http))),
        (0, "h2c", Some((0, PortProtocol::Http))),
        (0, "https", None),
        (8080, "tcp", None),
        (9000, "tcp", Some((9000, PortProtocol::Tcp))),
        (9000, "tls", None),
        (9000, "", None),
        (7000, "tcp", Some((7000, PortProtocol::Tcp))),
        (7002, "tcp", Some((7002, PortProtocol::Tcp))),
        (7003, "tcp", None),
        (8090, "", Some((8090, PortProtocol::Http))),
        (8090, "h2c", None),
        (8090, "ftp", None),
    ] {
        let port = rules(allowed.clone()).port(port, protocol, false);
        let expected =
            expected.map(|(number, protocol)| ApiPort { number, terms: PortTerms { protocol, announced: false, address: None } });
        assert_eq!(port.as_ref().ok(), expected.as_ref(), "{port:?}");
    }
    let all = rules(json!({"disable_ports_whitelist": true}));
    assert_eq!(all.port(5, "tls", true).unwrap().terms, PortTerms { protocol: PortProtocol::Tls, announced: true, address: None });
    // Tyk reads PROXY headers at ports of streams only.
    assert!(!all.port(5, "https", true).unwrap().terms.announced);
    let (field, message) = rules(json!({})).port(9, "tls", false).unwrap_err();
    assert_eq!(field, "$.listen_port");
    assert!(message.contains("9 is not in ports_whitelist.tls"), "{message}");
}

#[test]
fn the_requested_host_selects_the_stream() {
    let terms = PortTerms { protocol: PortProtocol::Tls, announced: false, address: None };
    let port = |streams: &[(Option<&str>, usize)]| SnapshotPort {
        terms,
        router: Router::default(),
        listeners: None,
        tls: None,
        streams: streams.iter().map(|(host, api)| (host.map(str::to_owned), *api)).collect(),
    };
    // As in `TestProxyMultiTarget` of tcp/tcp_test.go, Tyk v5.14.
    let hosts = port(&[(Some("a.example"), 1), (Some("b.example"), 2)]);
    let default = port(&[(Some("a.example"), 1), (None, 3)]);
    let one = port(&[(Some("a.example"), 1)]);
    for (port, host, expected) in [
        (&hosts, Some("a.example"), Some(1)),
        (&hosts, Some("B.example"), Some(2)),
        (&hosts, Some("c.example"), None),
        (&hosts, None, None),
        (&default, Some("a.example"), Some(1)),
        (&default, Some("c.example"), Some(3)),
        (&default, None, None),
        (&one, None, Some(1)),
        (&one, Some("c.example"), None),
        (&port(&[]), None, None),
    ] {
        assert_eq!(port.stream(host), expected, "{host:?} {:?}", port.streams);
    }
}
