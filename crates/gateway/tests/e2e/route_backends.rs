//! Backends of routes: requests that are sent again, time limits, copies, HTTP/2, TLS with rules of their own, and certificates of clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rcgen::SanType;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::certificates::{Authority, client, over, server, shake_hands};
use crate::harness::http2::Http2Upstream;
use crate::harness::{Connection, Definition, Gateway, Setup, Upstream, api, eventually, get, ok, reply, request};
use crate::servers::free_port;

fn route(id: &str, rules: Value) -> Definition {
    api(id, "/", "").set("tollgate/route/rules", rules)
}

fn start(tables: &Value, definitions: impl IntoIterator<Item = Definition>) -> (Gateway, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("routing.json");
    std::fs::write(&file, tables.to_string()).unwrap();
    let conf = json!({"tollgate": {"routing_file": file}});
    (definitions.into_iter().fold(Setup::new(conf), Setup::api).start(), dir)
}

/// An upstream that fails so many times, and then answers.
fn failing(times: usize, fail: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Upstream {
    let count = AtomicUsize::new(0);
    Upstream::start(move |_| if count.fetch_add(1, Ordering::SeqCst) < times { fail() } else { ok() })
}

#[test]
fn requests_are_sent_again_after_the_statuses_that_a_rule_names() {
    let fail = |status: &'static str| move || reply(status, &[], "");
    let (two, four, other) = (failing(2, fail("500 No")), failing(4, fail("500 No")), failing(1, fail("503 No")));
    let rule = |prefix: &str, upstream: &Upstream| {
        json!({
            "matches": [{"path": {"prefix": prefix}}],
            "retries": {"attempts": 3, "statuses": [500]},
            "backends": [{"url": upstream.url()}]
        })
    };
    let rules = json!([rule("/two", &two), rule("/four", &four), rule("/other", &other)]);
    let (gateway, _dir) = start(&json!({}), [route("r", rules)]);
    assert_eq!(gateway.send(request("POST", "/two", &[], "body")).status, 200);
    assert!(two.seen().iter().all(|seen| seen.text() == "body"));
    assert_eq!(gateway.get("/four").status, 500);
    assert_eq!(gateway.get("/other").status, 503);
    assert_eq!((two.requests(), four.requests(), other.requests()), (3, 4, 1));
}

#[test]
fn requests_are_sent_again_after_a_lost_connection() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let upstream = Upstream::raw(move |mut wire: Connection, _| {
        let Some(_) = crate::harness::Seen::read(&mut wire) else { return };
        if counted.fetch_add(1, Ordering::SeqCst) >= 2 {
            wire.send(reply("200 OK", &["Connection: close"], ""));
        }
    });
    let rules = json!([{"retries": {"attempts": 3}, "backends": [{"url": upstream.url()}]}]);
    let (gateway, _dir) = start(&json!({}), [route("r", rules)]);
    assert_eq!(gateway.send(request("POST", "/", &[], "x")).status, 200);
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

#[test]
fn a_request_that_reached_no_endpoint_goes_to_another_one() {
    let alive = Upstream::ok();
    let gone = || json!({"address": "127.0.0.1", "port": free_port()});
    let backend = |endpoints: Value| json!({"protocol": "http", "endpoints": endpoints});
    let here = json!({"address": "127.0.0.1", "port": alive.port()});
    let tables = json!({"backends": {
        "some": backend(json!([gone(), gone(), here])), "none": backend(json!([gone(), gone()])), "other": backend(json!([gone(), here]))
    }});
    let rule = |prefix: &str, backend: &str, retries: Value| {
        let mut rule = json!({"matches": [{"path": {"prefix": prefix}}], "backends": [{"backend": backend}]});
        if !retries.is_null() {
            rule["retries"] = retries;
        }
        rule
    };
    let never = json!({"attempts": 3, "connection_errors": false});
    let rules = json!([rule("/some", "some", Value::Null), rule("/none", "none", Value::Null), rule("/never", "other", never)]);
    let (gateway, _dir) = start(&tables, [route("r", rules)]);
    for _ in 0..12 {
        assert_eq!(gateway.send(request("POST", "/some", &[], "body")).status, 200);
    }
    assert!(alive.seen().iter().all(|seen| seen.text() == "body"));
    assert_eq!(gateway.get("/none").status, 500);
    let told: Vec<u16> = (0..12).map(|_| gateway.get("/never").status).collect();
    assert!(told.contains(&500), "a rule that wants no connection errors to be retried: {told:?}");
}

#[test]
fn a_rule_limits_the_time_of_each_sending_and_of_all_together() {
    let slow = Upstream::start(|_| {
        thread::sleep(Duration::from_millis(300));
        ok()
    });
    let failing = Upstream::start(|_| {
        thread::sleep(Duration::from_millis(100));
        reply("500 No", &[], "")
    });
    let rule = |prefix: &str, upstream: &Upstream, timeouts: Value, retries: Value| {
        json!({
            "matches": [{"path": {"prefix": prefix}}], "timeouts": timeouts, "retries": retries, "backends": [{"url": upstream.url()}]
        })
    };
    let rules = json!([
        rule("/each", &slow, json!({"backend_request_ms": 100}), json!({"attempts": 2})),
        rule("/whole", &slow, json!({"request_ms": 100}), json!(null)),
        rule("/enough", &slow, json!({"request_ms": 20_000}), json!(null)),
        rule("/together", &failing, json!({"request_ms": 350}), json!({"attempts": 10, "statuses": [500]})),
    ]);
    let (gateway, _dir) = start(&json!({}), [route("r", rules)]);
    assert_eq!(gateway.get("/each").status, 504);
    eventually("each sending arrived", || slow.requests() == 3);
    assert_eq!(gateway.get("/whole").status, 504);
    assert_eq!(gateway.get("/enough").status, 200);
    assert_eq!(gateway.get("/together").status, 504);
    assert!((2..=6).contains(&failing.requests()), "{}", failing.requests());
}

#[test]
fn copies_go_to_all_mirrors_by_their_shares() {
    let (upstream, all, half, none, of_backend) = (Upstream::ok(), Upstream::ok(), Upstream::ok(), Upstream::ok(), Upstream::ok());
    let endpoint = json!([{"address": "127.0.0.1", "port": all.port()}]);
    let tables = json!({"backends": {"all": {"endpoints": endpoint}}});
    let rules = json!([{
        "mirrors": [
            {"backend": "all"},
            {"backend": "nobody"},
            {"url": half.url(), "numerator": 1, "denominator": 2},
            {"url": none.url(), "numerator": 0, "denominator": 1}
        ],
        "backends": [{"url": upstream.url(), "mirrors": [{"url": of_backend.url()}]}]
    }]);
    let (gateway, _dir) = start(&tables, [route("r", rules)]);
    let mut client = gateway.connect();
    for _ in 0..40 {
        assert_eq!(client.ask(request("POST", "/x?y=z", &["a: b"], "body")).status, 200);
        // Not more copies at a time than the gateway allows.
        eventually("the copy", || all.requests() == upstream.requests() && of_backend.requests() == upstream.requests());
    }
    assert!((8..=32).contains(&half.requests()), "{}", half.requests());
    assert_eq!(none.requests(), 0);
    let copy = all.last();
    assert_eq!((copy.target.as_str(), copy.header("host"), copy.text().as_str()), ("/x?y=z", Some("gateway.test"), "body"));
}

#[test]
fn backends_speak_what_the_table_says_and_show_the_names_that_it_asks_for() {
    let authority = Authority::new("backends");
    let uri = authority.issue_with(&[], |params| {
        params.subject_alt_names.push(SanType::URI("spiffe://mesh/shop".try_into().unwrap()));
    });
    let named = authority.issue(&["shop.test"]);
    let secure = |made| Upstream::tls(Arc::new(server(made)), |_| reply("200 OK", &[], "secure"));
    let (by_uri, by_name) = (secure(&uri), secure(&named));
    let h2c = Http2Upstream::start(None, async |request, mut respond: h2::server::SendResponse<bytes::Bytes>| {
        let version = format!("{:?}", request.version());
        let _ = respond.send_response(http::Response::builder().header("x-version", version).body(()).unwrap(), true);
    });
    let backend =
        |port: u16, tls: Value| json!({"protocol": "https", "endpoints": [{"address": "127.0.0.1", "port": port}], "tls": tls});
    let trusted = |over: Value| {
        let mut tls = json!({"host": "shop.test", "authorities": [authority.pem()]});
        crate::harness::definition::merge(&mut tls, &over);
        tls
    };
    let cases = [
        ("name", by_name.port(), trusted(json!({})), 200),
        ("other-name", by_name.port(), trusted(json!({"host": "other.test"})), 500),
        ("names", by_name.port(), trusted(json!({"host": "other.test", "names": ["uri:spiffe://x/y", "dns:shop.test"]})), 200),
        ("uri", by_uri.port(), trusted(json!({"names": ["uri:spiffe://mesh/shop"]})), 200),
        ("other-uri", by_uri.port(), trusted(json!({"names": ["uri:spiffe://mesh/other", "dns:shop.test"]})), 500),
        ("stranger", by_name.port(), json!({"host": "shop.test", "authorities": [Authority::new("other").pem()]}), 500),
        ("no-authority", by_name.port(), json!({"host": "shop.test", "authorities": ["nothing"]}), 500),
    ];
    let mut backends = json!({
        "h2c": {"protocol": "h2c", "endpoints": [{"address": "127.0.0.1", "port": h2c.address.port()}]},
        "broken": {"broken": "a policy that cannot be used", "endpoints": [{"address": "127.0.0.1", "port": by_name.port()}]}
    });
    let mut rules = vec![];
    let rule = |name: &str| json!({"matches": [{"path": {"exact": format!("/{name}")}}], "backends": [{"backend": name}]});
    for (name, port, tls, _) in &cases {
        backends[*name] = backend(*port, tls.clone());
        rules.push(rule(name));
    }
    rules.extend([rule("h2c"), rule("broken")]);
    let (gateway, _dir) = start(&json!({"backends": backends}), [route("r", json!(rules))]);
    for (name, _, _, status) in &cases {
        assert_eq!(gateway.get(&format!("/{name}")).status, *status, "{name}");
    }
    assert_eq!(gateway.get("/h2c").header("x-version"), Some("HTTP/2.0"));
    assert_eq!(gateway.get("/broken").status, 500);
}

#[test]
fn listeners_validate_the_certificates_of_clients() {
    let (authority, clients, strangers) = (Authority::new("servers"), Authority::new("clients"), Authority::new("strangers"));
    let upstream = Upstream::ok();
    let (strict, lax) = (free_port(), free_port());
    let listener = |port: u16, insecure_fallback: bool| {
        let made = authority.issue(&["a.test"]);
        let pem = format!("{}{}", made.certificate, made.key);
        let rules = json!({"authorities": [clients.pem()], "insecure_fallback": insecure_fallback});
        json!({
            "addresses": ["127.0.0.1"], "port": port, "protocol": "https",
            "tls": {"certificates": [pem], "client_certificates": rules}
        })
    };
    let definition = route("r", json!([{"backends": [{"url": upstream.url()}]}]))
        .set("tollgate/route/attached", json!([{"listener": "strict"}, {"listener": "lax"}]));
    let (_gateway, _dir) =
        start(&json!({"listeners": {"strict": listener(strict, false), "lax": listener(lax, true)}}), [definition]);
    let (good, bad) = (clients.issue(&["someone"]), strangers.issue(&["someone"]));
    let asked = |port: u16, own| {
        let config = Arc::new(client(&authority, own));
        // In TLS 1.3 a client learns of its refusal only when it reads.
        let mut connection = over(shake_hands(&config, port, "a.test").ok()?);
        connection.try_send(get("/").replace("gateway.test", "a.test")).ok()?;
        connection.try_response("GET").ok().map(|response| response.status)
    };
    assert_eq!(asked(strict, Some(&good)), Some(200));
    assert_eq!(asked(strict, Some(&bad)), None);
    assert_eq!(asked(strict, None), None);
    assert_eq!(asked(lax, Some(&bad)), Some(200));
    assert_eq!(asked(lax, None), Some(200));
}
