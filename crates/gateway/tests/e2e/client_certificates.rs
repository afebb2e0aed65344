//! Client certificates: who is let in by the list of an API, by an authority, by a key, and to the control API.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::certificates::{Authority, Made, client, connect, shake_hands};
use crate::harness::gateway::SECRET;
use crate::harness::{Connection, Gateway, Response, Setup, Upstream, api, error_json, get, request};

struct Served {
    authority: Authority,
    gateway: Gateway,
    upstream: Upstream,
    _dir: tempfile::TempDir,
}

impl Served {
    /// A gateway that speaks TLS as `api.test`; `apis` and more configuration are made with the test's own certificate files.
    fn new(
        conf: Value,
        listed: &[(&str, &Made)],
        apis: impl FnOnce(&Upstream, &std::path::Path) -> Vec<crate::harness::Definition>,
    ) -> Served {
        let authority = Authority::new("servers");
        let dir = tempfile::tempdir().unwrap();
        for (name, made) in listed {
            std::fs::write(dir.path().join(name), &made.certificate).unwrap();
        }
        let own = authority.issue(&["api.test"]).write(dir.path(), "own.pem");
        let mut all = json!({"http_server_options": {"use_ssl": true, "certificates": [{"cert_file": own}]}});
        let text = conf.to_string().replace("DIR", dir.path().to_str().unwrap());
        all.as_object_mut().unwrap().extend(serde_json::from_str::<Value>(&text).unwrap().as_object().unwrap().clone());
        let upstream = Upstream::ok();
        let gateway = apis(&upstream, dir.path()).into_iter().fold(Setup::new(all), Setup::api).start();
        Served { authority, gateway, upstream, _dir: dir }
    }

    fn connect(&self, own: Option<&Made>) -> Connection {
        connect(&Arc::new(client(&self.authority, own)), self.gateway.port, "api.test")
    }

    fn get(&self, own: Option<&Made>, target: &str) -> Response {
        self.connect(own).ask(get(target))
    }
}

fn mutual(listed: &[(&str, &Made)]) -> Served {
    Served::new(json!({}), listed, |upstream, dir| {
        let names: Vec<_> = listed.iter().map(|(name, _)| dir.join(name)).collect();
        vec![
            api("a", "/a/", &upstream.url()).set("use_mutual_tls_auth", true).set("client_certificates", json!(names)),
            api("b", "/b/", &upstream.url()),
        ]
    })
}

#[test]
fn only_listed_certificates_may_call() {
    let clients = Authority::new("clients");
    let (listed, other) = (clients.issue(&["listed"]), clients.issue(&["other"]));
    let served = mutual(&[("listed.pem", &listed)]);
    assert_eq!(served.get(Some(&listed), "/a/").status, 200);
    for (own, message) in [
        (None, "Client TLS certificate is required".to_owned()),
        (Some(&other), format!("Certificate with SHA256 {} not allowed", other.fingerprint())),
    ] {
        let refused = served.get(own, "/a/");
        assert_eq!((refused.status, refused.text()), (403, error_json(&message)));
        assert_eq!(served.get(own, "/b/").status, 200, "another API asks nobody");
    }
    assert_eq!(served.upstream.requests(), 3);
}

#[test]
fn a_listed_certificate_may_stand_in_the_definition() {
    let clients = Authority::new("clients");
    let (listed, other) = (clients.issue(&["listed"]), clients.issue(&["other"]));
    let text = format!("{}{}", listed.certificate, listed.key);
    let conf = json!({"secrets": {"listed": text, "folded": text.replace('\n', "\\n"), "outside": "/etc/hostname"}});
    for written in [&*text, "secrets://listed", "secrets://folded"] {
        let served = Served::new(conf.clone(), &[], |upstream, _| {
            vec![api("a", "/a/", &upstream.url()).set("use_mutual_tls_auth", true).set("client_certificates", json!([written]))]
        });
        assert_eq!([&listed, &other].map(|own| served.get(Some(own), "/a/").status), [200, 403], "{written}");
        let log = served.gateway.log();
        assert!(!log.contains("PRIVATE KEY"), "{log}");
    }
    // What a reference stands for is no way to other files.
    let base = tempfile::tempdir().unwrap();
    let mut closed = conf;
    closed["file"] = json!({"base_path": base.path()});
    let served = Served::new(closed, &[], |upstream, _| {
        vec![api("a", "/a/", &upstream.url()).set("upstream_certificates", json!({"*": "secrets://outside"}))]
    });
    assert_eq!(served.get(None, "/a/").status, 404);
    assert!(served.gateway.log().contains("is outside of the directories"), "{}", served.gateway.log());
}

#[test]
fn an_authority_lets_in_what_it_issued() {
    let (clients, strangers) = (Authority::new("clients"), Authority::new("clients"));
    let authority = Made { certificate: clients.pem(), key: String::new() };
    let served = mutual(&[("authority.pem", &authority)]);
    let issued =
        clients.issue_with(&["one"], |params| params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth]);
    let mut wire = served.connect(Some(&issued));
    for _ in 0..3 {
        assert_eq!(wire.ask(get("/a/")).status, 200);
    }
    for stranger in [strangers.issue(&["one"]), clients.issue_expired(&["one"])] {
        assert_eq!(served.get(Some(&stranger), "/a/").status, 403);
    }
}

#[test]
fn an_expired_certificate_is_said_to_be() {
    let expired = Authority::new("clients").issue_expired(&["late"]);
    let served = mutual(&[("late.pem", &expired)]);
    let refused = served.get(Some(&expired), "/a/");
    assert_eq!((refused.status, refused.text()), (403, error_json("Certificate has expired")));
}

#[test]
fn a_resumed_session_keeps_its_certificate() {
    let listed = Authority::new("clients").issue(&["listed"]);
    let served = mutual(&[("listed.pem", &listed)]);
    let config = Arc::new(client(&served.authority, Some(&listed)));
    for index in 0..4 {
        let stream = shake_hands(&config, served.gateway.port, "api.test").unwrap();
        let resumed = stream.conn.handshake_kind() == Some(rustls::HandshakeKind::Resumed);
        assert_eq!(resumed, index > 0);
        assert_eq!(crate::harness::certificates::over(stream).ask(get("/a/")).status, 200);
    }
}

#[test]
fn without_tls_nobody_may_call() {
    let upstream = Upstream::ok();
    let definition = api("a", "/a/", &upstream.url())
        .set("use_mutual_tls_auth", true)
        .set("client_certificates", json!([std::env::temp_dir().join("none.pem")]));
    let gateway = Gateway::start(json!({}), [definition]);
    let refused = gateway.get("/a/");
    assert_eq!((refused.status, refused.text()), (403, error_json("TLS not enabled")));
}

#[test]
fn certificates_of_the_gateway_are_good_for_every_api() {
    let general = Authority::new("clients").issue(&["general"]);
    let conf = json!({"security": {"certificates": {"apis": ["DIR/general.pem"]}}});
    let served = Served::new(conf, &[("general.pem", &general)], |upstream, _| {
        vec![api("a", "/a/", &upstream.url()).set("use_mutual_tls_auth", true)]
    });
    assert_eq!(served.get(Some(&general), "/a/").status, 200);
    assert_eq!(served.get(None, "/a/").status, 403);
}

#[test]
fn only_hosts_that_need_a_certificate_ask_for_one() {
    let listed = Authority::new("clients").issue(&["listed"]);
    let conf = json!({"enable_custom_domains": true});
    let served = Served::new(conf, &[("listed.pem", &listed)], |upstream, dir| {
        let asking = api("a", "/a/", &upstream.url()).set("domain", "asks.test").set("use_mutual_tls_auth", true);
        vec![asking.set("client_certificates", json!([dir.join("listed.pem")])), api("b", "/b/", &upstream.url())]
    });
    let asks = |host: &str| {
        let output = std::process::Command::new("openssl")
            .args(["s_client", "-servername", host, "-connect", &format!("127.0.0.1:{}", served.gateway.port)])
            .stdin(std::process::Stdio::null())
            .output()
            .expect("openssl runs");
        String::from_utf8_lossy(&output.stdout).contains("Requested Signature Algorithms")
    };
    assert!(asks("asks.test"));
    assert!(!asks("api.test"));
    // Who names one host and means another is not let in by that.
    let refused = served.connect(None).ask("GET /a/ HTTP/1.1\r\nHost: asks.test\r\n\r\n");
    assert_eq!((refused.status, refused.text()), (403, error_json("Client TLS certificate is required")));
}

// --- Keys ---

fn with_keys(conf: Value) -> Served {
    Served::new(conf, &[], |upstream, _| {
        let places = json!({"auth_header_name": "Authorization", "use_certificate": true});
        vec![
            api("a", "/a/", &upstream.url()).set("use_keyless", false).set("auth", places),
            api("b", "/b/", &upstream.url()).set("use_keyless", false),
        ]
    })
}

fn make_key(served: &Served, session: Value) -> String {
    let secret = format!("x-tyk-authorization: {SECRET}");
    let mut session = session;
    session["org_id"] = json!("default");
    session["access_rights"] =
        json!({"a": {"api_id": "a", "versions": ["Default"]}, "b": {"api_id": "b", "versions": ["Default"]}});
    let response = served.connect(None).ask(request("POST", "/tyk/keys/create", &[&secret], &session.to_string()));
    assert_eq!(response.status, 200, "{response}");
    response.json()["key"].as_str().unwrap().to_owned()
}

#[test]
fn a_certificate_stands_for_a_key() {
    let clients = Authority::new("clients");
    let (known, unknown, expired) = (clients.issue(&["known"]), clients.issue(&["unknown"]), clients.issue_expired(&["late"]));
    let served = with_keys(json!({}));
    let key = make_key(&served, json!({"certificate": format!("default{}", known.fingerprint())}));
    make_key(&served, json!({"certificate": format!("default{}", expired.fingerprint())}));
    assert_eq!(served.get(Some(&known), "/a/").status, 200);
    for (own, status, message) in [
        (Some(&unknown), 403, "Access to this API has been disallowed"),
        (Some(&expired), 403, "Certificate has expired"),
        (None, 401, "Authorization field missing"),
    ] {
        let refused = served.get(own, "/a/");
        assert_eq!((refused.status, refused.text()), (status, error_json(message)));
    }
    assert_eq!(served.get(Some(&known), "/b/").status, 401, "an API that does not take certificates");
    // The name of such a key can be worked out from the certificate, which is no secret.
    for path in ["/a/", "/b/"] {
        for token in [key.clone(), known.fingerprint(), format!("default{}", known.fingerprint())] {
            let header = format!("Authorization: {token}");
            let refused = served.connect(None).ask(request("GET", path, &[&header], ""));
            assert!(matches!(refused.status, 401 | 403), "{path} {token}: {refused}");
            let refused = served.connect(Some(&unknown)).ask(request("GET", path, &[&header], ""));
            assert!(matches!(refused.status, 401 | 403), "{path} {token}: {refused}");
        }
    }
}

#[test]
fn a_key_can_be_bound_to_certificates() {
    let clients = Authority::new("clients");
    let (one, two, other) = (clients.issue(&["one"]), clients.issue(&["two"]), clients.issue(&["other"]));
    let bindings = json!([format!("default{}", one.fingerprint()), two.fingerprint()]);
    let served = with_keys(json!({}));
    let key = make_key(&served, json!({"mtls_static_certificate_bindings": bindings}));
    let header = format!("Authorization: {key}");
    let ask = |own: Option<&Made>| served.connect(own).ask(request("GET", "/a/", &[&header], ""));
    assert_eq!((ask(Some(&one)).status, ask(Some(&two)).status), (200, 200));
    for (own, message) in [(None, "Client certificate required"), (Some(&other), "Access to this API has been disallowed")] {
        let refused = ask(own);
        assert_eq!((refused.status, refused.text()), (401, error_json(message)));
    }
    let served = with_keys(json!({"security": {"allow_unsafe_dynamic_mtls_token": true}}));
    let key = make_key(&served, json!({"mtls_static_certificate_bindings": bindings}));
    let header = format!("Authorization: {key}");
    assert_eq!(served.connect(None).ask(request("GET", "/a/", &[&header], "")).status, 200, "the operator allows it");
}

// --- The control API ---

#[test]
fn the_control_api_can_ask_for_a_certificate() {
    let clients = Authority::new("operators");
    let (operator, other) = (clients.issue(&["operator"]), clients.issue(&["other"]));
    let security = json!({"control_api_use_mutual_tls": true, "certificates": {"control_api": ["DIR/operator.pem"]}});
    let served = Served::new(json!({ "security": security }), &[("operator.pem", &operator)], |upstream, _| {
        vec![api("a", "/a/", &upstream.url())]
    });
    let secret = format!("x-tyk-authorization: {SECRET}");
    let ask = |own: Option<&Made>, target: &str| served.connect(own).ask(request("GET", target, &[&secret], "")).status;
    assert_eq!((ask(Some(&operator), "/tyk/apis"), ask(Some(&other), "/tyk/apis"), ask(None, "/tyk/apis")), (200, 403, 403));
    assert_eq!((ask(None, "/hello"), ask(None, "/a/")), (200, 200), "health and APIs are for everybody");
}

#[test]
fn the_control_api_speaks_tls_on_its_own_port() {
    let clients = Authority::new("operators");
    let (operator, other) = (clients.issue(&["operator"]), clients.issue(&["other"]));
    let port = crate::servers::free_port();
    let security = json!({"control_api_use_mutual_tls": true, "certificates": {"control_api": ["DIR/operator.pem"]}});
    let conf = json!({ "security": security, "control_api_port": port });
    let served = Served::new(conf, &[("operator.pem", &operator)], |_, _| vec![]);
    let secret = format!("x-tyk-authorization: {SECRET}");
    let ask = |own: Option<&Made>| {
        let mut wire = connect(&Arc::new(client(&served.authority, own)), port, "api.test");
        let _ = wire.try_send(request("GET", "/tyk/apis", &[&secret], ""));
        wire.try_response("GET").map(|response| response.status).ok()
    };
    assert_eq!((ask(Some(&operator)), ask(Some(&other)), ask(None)), (Some(200), None, None));
}
