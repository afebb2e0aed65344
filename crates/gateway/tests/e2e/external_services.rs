//! Calls of the gateway itself through proxies and with certificates: a discovery service, a token server, receivers of webhooks, and checks of targets.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::server::WebPkiClientVerifier;
use serde_json::{Value, json};

use crate::harness::certificates::{Authority, Made};
use crate::harness::{Connection, Definition, Gateway, Seen, Upstream, api, eventually, ok, reply};
use crate::keys::{call, keyed};
use crate::webhooks::{bodies, webhook, with_events};

/// A proxy that notes what it is asked for: it answers requests with whole URIs from their servers, and connects for others.
pub(crate) fn proxy(asked: Arc<Mutex<Vec<Seen>>>) -> Upstream {
    Upstream::raw(move |mut wire: Connection, _| {
        let Some(seen) = Seen::read(&mut wire) else { return };
        asked.lock().unwrap().push(seen.clone());
        let place = match seen.method.as_str() {
            "CONNECT" => seen.target.clone(),
            _ => seen.target.split('/').nth(2).unwrap().to_owned(),
        };
        let port: u16 = place.rsplit(':').next().unwrap().parse().unwrap();
        let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)) else { return };
        if seen.method == "CONNECT" {
            wire.send("HTTP/1.1 200 OK\r\n\r\n");
        } else {
            let path = seen.target.splitn(4, '/').nth(3).unwrap_or_default();
            write!(server, "{} /{path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n", seen.method).unwrap();
        }
        let (mut from, mut to) = (wire.socket().try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut from, &mut to));
        let mut answer = [0; 4096];
        while let Ok(length @ 1..) = server.read(&mut answer) {
            if wire.try_send(&answer[..length]).is_err() {
                return;
            }
        }
    })
}

fn discovering(service: &str, fallback: &Upstream) -> Definition {
    api("a", "/a/", &fallback.url()).set(
        "proxy/service_discovery",
        json!({"use_discovery_service": true, "query_endpoint": service, "data_path": "host", "cache_disabled": true}),
    )
}

#[test]
fn a_discovery_service_is_asked_through_its_proxy() {
    let (found, fallback) = (Upstream::start(|_| reply("200 OK", &[], "found")), Upstream::ok());
    let url = found.url();
    let service = Upstream::start(move |_| reply("200 OK", &["Connection: close"], &json!({"host": url}).to_string()));
    let asked: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let proxy = proxy(asked.clone());
    let through = |bypass: &str| {
        let proxy = json!({"enabled": true, "http_proxy": format!("http://me:p%40ss@{}", proxy.address), "bypass_proxy": bypass});
        json!({"external_services": {"discovery": {"proxy": proxy}}})
    };
    let gateway = Gateway::start(through(""), [discovering(&service.url(), &fallback)]);
    eventually("the target is found", || gateway.get("/a/").text() == "found");
    let first = asked.lock().unwrap()[0].clone();
    assert_eq!((first.method.as_str(), first.target.as_str()), ("GET", format!("{}/", service.url()).as_str()), "the whole URI");
    assert_eq!(first.header("proxy-authorization"), Some("Basic bWU6cEBzcw=="));
    // What the proxy is for does not reach the service.
    assert_eq!(service.last().header("proxy-authorization"), None);
    drop(gateway);
    asked.lock().unwrap().clear();
    let gateway = Gateway::start(through("10.0.0.0/8,127.0.0.1/32"), [discovering(&service.url(), &fallback)]);
    eventually("the target is found", || gateway.get("/a/").text() == "found");
    assert!(asked.lock().unwrap().is_empty(), "the host is called directly");
}

/// A server that wants a certificate of the authority.
fn mutual(authority: &Authority, own: &Made) -> Arc<rustls::ServerConfig> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(authority.roots()), provider.clone()).build().unwrap();
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_client_cert_verifier(verifier).with_single_cert(vec![own.der()], own.private_key()).unwrap())
}

#[test]
fn a_token_server_is_shown_a_certificate_through_a_proxy() {
    let authority = Authority::new("tests");
    let (server, gateways) = (authority.issue(&["localhost"]), authority.issue(&["gateway"]));
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (cert, key) = (write("cert.pem", &gateways.certificate), write("key.pem", &gateways.key));
    let authorities = write("ca.pem", &authority.pem());
    let tokens = Upstream::tls(mutual(&authority, &server), |_| {
        reply("200 OK", &["Content-Type: application/json"], &json!({"access_token": "t", "expires_in": 3600}).to_string())
    });
    let asked: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let proxy = proxy(asked.clone());
    let upstream =
        Upstream::start(|seen| if seen.header("authorization") == Some("Bearer t") { ok() } else { reply("401 No", &[], "") });
    let start = |mtls: Value| {
        let client = json!({"client_id": "id", "client_secret": "s", "token_url": format!("https://localhost:{}/", tokens.port())});
        let auth = json!({"enabled": true, "oauth": {"enabled": true, "client_credentials": client}});
        let conf = json!({"external_services": {"global": {"enabled": true, "https_proxy": proxy.url()}, "oauth": {"mtls": mtls}}});
        Gateway::start(conf, [api("a", "/a/", &upstream.url()).set("upstream_auth", auth)])
    };
    let all = json!({"enabled": true, "cert_file": cert, "key_file": key, "ca_file": authorities});
    let gateway = start(all.clone());
    let answer = gateway.get("/a/");
    assert_eq!(answer.status, 200, "{}", gateway.log());
    let first = asked.lock().unwrap()[0].clone();
    assert_eq!((first.method.as_str(), first.target.as_str()), ("CONNECT", format!("localhost:{}", tokens.port()).as_str()));
    // Without its certificate the gateway gets no token; without the authority it gives its certificate to nobody.
    for (mtls, why) in [
        (json!({"enabled": true, "ca_file": authorities}), "certificate"),
        (json!({"enabled": false}), "certificate"),
        (json!({"enabled": true, "ca_file": "/nowhere.pem"}), "nowhere.pem"),
    ] {
        let gateway = start(mtls.clone());
        assert_eq!(gateway.get("/a/").status, 502, "{mtls}");
        let log = gateway.log();
        assert!(log.lines().any(|line| line.contains("no access token") && line.to_lowercase().contains(why)), "{mtls}: {log}");
    }
}

#[test]
fn a_receiver_of_webhooks_is_reached_through_a_proxy_and_shown_a_certificate() {
    let authority = Authority::new("tests");
    let (server, gateways) = (authority.issue(&["localhost"]), authority.issue(&["gateway"]));
    let dir = tempfile::tempdir().unwrap();
    let own = gateways.write(dir.path(), "own.pem");
    let ca = dir.path().join("ca.pem");
    std::fs::write(&ca, authority.pem()).unwrap();
    let receiver = Upstream::tls(mutual(&authority, &server), |_| ok());
    let asked: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let (proxy, upstream) = (proxy(asked.clone()), Upstream::ok());
    let start = |mtls: Value| {
        let hook = webhook(&receiver, json!({"target_path": format!("https://localhost:{}/hook", receiver.port())}));
        let definition = with_events(keyed("a", &upstream), json!({"AuthFailure": [hook]}));
        let services = json!({"webhooks": {"proxy": {"https_proxy": proxy.url()}, "mtls": mtls}});
        let gateway = Gateway::start(json!({"external_services": services}), [definition]);
        assert_eq!(call(&gateway, "/a/x", "unknown-key").status, 403);
        gateway
    };
    let _gateway = start(json!({"enabled": true, "cert_file": own, "key_file": own, "ca_file": ca}));
    assert_eq!(bodies(&receiver, 1)[0]["event"], "AuthFailure");
    assert_eq!(asked.lock().unwrap()[0].target, format!("localhost:{}", receiver.port()));
    for (mtls, why) in [
        (json!({"enabled": true, "ca_file": ca}), "certificate"),
        (json!({"enabled": true, "ca_file": "/nowhere.pem"}), "nowhere.pem"),
    ] {
        let gateway = start(mtls);
        eventually("it fails", || gateway.log().contains("a webhook failed"));
        assert!(gateway.log().to_lowercase().contains(why), "{}", gateway.log());
    }
    assert_eq!(receiver.requests(), 1);
}

#[test]
fn settings_that_cannot_work_are_errors_with_their_place() {
    let check = |services: Value| {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tyk.conf");
        std::fs::write(&file, json!({"secret": "s", "external_services": services}).to_string()).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg(&file).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for (services, place, message) in [
        (json!({"global": {"http_proxy": "https://proxy:1"}}), "external_services.global.http_proxy", "must be a URL such as"),
        (
            json!({"oauth": {"proxy": {"https_proxy": "proxy"}}}),
            "external_services.oauth.proxy.https_proxy",
            "must be a URL such as",
        ),
        (
            json!({"health": {"mtls": {"enabled": true, "cert_file": "a"}}}),
            "external_services.health.mtls.key_file",
            "belong together",
        ),
        (json!({"discovery": {"mtls": {"enabled": true}}}), "external_services.discovery.mtls.enabled", "needs a certificate"),
        (
            json!({"oauth": {"mtls": {"enabled": true, "cert_id": "a", "tls_min_version": "1.1"}}}),
            "mtls.tls_min_version",
            "must be 1.2 or 1.3",
        ),
    ] {
        let text = check(services);
        assert!(
            text.lines().any(|line| line.contains("error") && line.contains(place) && line.contains(message)),
            "{place}: {text}"
        );
    }
}
