//! Events and their handlers: webhooks to receivers that are quick, slow, gone, refusing or redirecting, and lines of the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Setup, Upstream, api, eventually, get, ok, reply, request};
use crate::keys::{call, create, keyed, session, with_key};

/// A webhook that is sent to a receiver.
pub(crate) fn webhook(receiver: &Upstream, meta: Value) -> Value {
    let mut own = json!({"method": "POST", "target_path": format!("{}/hook", receiver.url()), "event_timeout": 3600});
    crate::harness::definition::merge(&mut own, &meta);
    json!({"handler_name": "eh_web_hook_handler", "handler_meta": own})
}

pub(crate) fn with_events(definition: Definition, events: Value) -> Definition {
    definition.set("event_handlers", json!({"events": events}))
}

/// The bodies that a receiver got, when there are as many.
pub(crate) fn bodies(receiver: &Upstream, count: usize) -> Vec<Value> {
    eventually("the receiver gets the webhooks", || receiver.requests() >= count);
    receiver
        .seen()
        .iter()
        .map(|seen| serde_json::from_str(&seen.text()).unwrap_or_else(|error| panic!("{error}: {}", seen.text())))
        .collect()
}

/// The count of events of the API `a` with a result.
fn count(gateway: &Gateway, result: &str) -> u64 {
    let live = gateway.control("GET", "/tyk/live", "").json();
    let of_api = live["events"].as_array().into_iter().flatten().filter(|handler| handler["api_id"] == "a");
    of_api.map(|handler| handler[result].as_u64().unwrap()).sum()
}

#[test]
fn refusals_and_limits_are_webhooks_with_the_bodies_of_tyk() {
    let upstream = Upstream::ok();
    let receiver = Upstream::ok();
    let hook = || json!([webhook(&receiver, json!({"header_map": {"X-Token": "t0ken"}}))]);
    let events = json!({"AuthFailure": hook(), "QuotaExceeded": hook(), "RatelimitExceeded": hook(), "VersionFailure": hook(), "KeyExpired": hook()});
    let definition = with_events(keyed("a", &upstream), events).list("black_list", json!([{"path": "/secret"}]));
    let gateway = Gateway::start(json!({}), [definition]);

    assert_eq!(gateway.get("/a/x").status, 401);
    assert_eq!(call(&gateway, "/a/x?y=1", "unknown-key").status, 403);
    let of_auth = bodies(&receiver, 1);
    let first =
        json!({"event": "AuthFailure", "message": "Auth Failure", "path": "/a/x", "origin": "127.0.0.1", "key": "unknown-key"});
    assert_eq!(of_auth, [first], "a request without a key is no event in Tyk");
    let seen = receiver.last();
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/hook"));
    assert_eq!(
        [seen.header("user-agent"), seen.header("content-type"), seen.header("x-token")],
        [Some("Tyk-Hookshot"), Some("application/json"), Some("t0ken")]
    );

    let limited = create(&gateway, &session(json!({"quota_max": 1, "quota_renewal_rate": 3600})));
    assert_eq!([0; 2].map(|_| call(&gateway, "/a/q", &limited).status), [200, 403]);
    let throttled = create(&gateway, &session(json!({"rate": 1, "per": 3600})));
    assert_eq!([0; 2].map(|_| call(&gateway, "/a/r", &throttled).status), [200, 429]);
    let expired = create(&gateway, &session(json!({"expires": 1})));
    assert_eq!(call(&gateway, "/a/e", &expired).status, 401);
    assert_eq!(call(&gateway, "/a/secret", &throttled).status, 403);
    let mut told = bodies(&receiver, 5).split_off(1);
    told.sort_by_key(|body| body["event"].as_str().unwrap().to_owned());
    let body = |event: &str, message: &str, path: &str, key: &str| json!({"event": event, "message": message, "path": path, "origin": "127.0.0.1", "key": key});
    assert_eq!(
        told,
        [
            body("KeyExpired", "Attempted access from expired key.", "/a/e", &expired),
            body("QuotaExceeded", "Key Quota Limit Exceeded", "/a/q", &limited),
            body("RatelimitExceeded", "Rate Limit Exceeded", "/a/r", &throttled),
            body("VersionFailure", "Attempted access to disallowed version / path.", "/a/secret", ""),
        ]
    );
    // One counts as sent when its answer has come, which is after the receiver has seen it.
    eventually("all are sent", || count(&gateway, "sent") == 5);
    assert_eq!(count(&gateway, "failed"), 0);
}

#[test]
fn a_hundred_thousand_refusals_are_one_webhook() {
    let upstream = Upstream::ok();
    let receiver = Upstream::ok();
    let gateway =
        Gateway::start(json!({}), [with_events(keyed("a", &upstream), json!({"AuthFailure": [webhook(&receiver, json!({}))]}))]);
    let refused = with_key("/a/x", "unknown-key");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = gateway.connect();
                for _ in 0..250 {
                    // A hundred requests at once.
                    client.send(refused.repeat(100));
                    (0..100).for_each(|_| assert_eq!(client.response("GET").status, 403));
                }
            });
        }
    });
    eventually("the webhook is sent", || count(&gateway, "sent") == 1);
    eventually("all are counted", || count(&gateway, "repeated") == 99_999 && count(&gateway, "waiting") == 0);
    assert_eq!((receiver.requests(), count(&gateway, "dropped")), (1, 0));
}

#[test]
fn what_happened_before_a_stop_is_sent_before_the_process_ends() {
    let upstream = Upstream::ok();
    let receiver = Upstream::ok();
    let definition = with_events(keyed("a", &upstream), json!({"AuthFailure": [webhook(&receiver, json!({}))]}));
    let mut gateway = Gateway::start(json!({}), [definition]);
    let mut client = gateway.connect();
    client.send((0..60).map(|number| with_key("/a/x", &format!("unknown-{number}"))).collect::<String>());
    (0..60).for_each(|_| assert_eq!(client.response("GET").status, 403));
    gateway.signal("TERM");
    drop(client);
    assert!(gateway.wait_for_exit().success());
    assert_eq!(receiver.requests(), 60);
}

#[test]
fn the_same_event_is_sent_again_after_its_time() {
    let upstream = Upstream::ok();
    let receiver = Upstream::ok();
    let hook = webhook(&receiver, json!({"event_timeout": 1}));
    let gateway = Gateway::start(json!({}), [with_events(keyed("a", &upstream), json!({"AuthFailure": [hook]}))]);
    eventually("three are sent, and others within the time of one are not", || {
        call(&gateway, "/a/x", "unknown-key");
        receiver.requests() >= 3 && count(&gateway, "repeated") > 3
    });
}

#[test]
fn a_slow_receiver_costs_requests_nothing_and_what_it_misses_is_counted() {
    let upstream = Upstream::ok();
    let gate = Arc::new(AtomicBool::new(false));
    let closed = gate.clone();
    let receiver = Upstream::raw(move |mut wire, _| {
        let _ = wire.head();
        while !closed.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(20));
        }
        let _ = wire.try_send(reply("200 OK", &["Connection: close"], ""));
    });
    let gateway =
        Gateway::start(json!({}), [with_events(keyed("a", &upstream), json!({"AuthFailure": [webhook(&receiver, json!({}))]}))]);
    let mut client = gateway.connect();
    for number in 0..2_000 {
        assert_eq!(client.ask(with_key(&format!("/a/{number}"), "unknown-key")).status, 403);
    }
    // The receiver has not answered once.
    assert_eq!((count(&gateway, "sent"), count(&gateway, "failed")), (0, 0));
    let (waiting, dropped) = (count(&gateway, "waiting"), count(&gateway, "dropped"));
    assert!((1_000..=1_001).contains(&waiting), "{waiting}");
    assert_eq!(waiting + dropped, 2_000);
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    let line = format!(
        "tollgate_events_total{{api=\"a\",handler=\"webhook\",receiver=\"{}\",result=\"dropped\"}} {dropped}",
        receiver.address
    );
    assert!(metrics.contains(&line), "{line} is not in {metrics}");
    assert_eq!(call(&gateway, "/a/x", &create(&gateway, &session(json!({})))).status, 200);
    gate.store(true, Ordering::SeqCst);
    eventually("all that waited are sent", || count(&gateway, "sent") == waiting);
}

#[test]
fn receivers_that_are_gone_or_refuse_are_counted_and_named() {
    let upstream = Upstream::ok();
    let refusing = Upstream::start(|_| reply("500 Broken", &[], "no"));
    let mut gone = webhook(&refusing, json!({"target_path": "http://127.0.0.1:1/hook"}));
    gone["handler_meta"]["header_map"] = json!({"Authorization": "Bearer s3cret"});
    let events = json!({"AuthFailure": [webhook(&refusing, json!({})), gone]});
    let gateway = Gateway::start(json!({}), [with_events(keyed("a", &upstream), events)]);
    assert_eq!(call(&gateway, "/a/x", "unknown-key").status, 403);
    eventually("both have failed", || count(&gateway, "failed") == 2);
    assert_eq!(refusing.requests(), 1, "a webhook that failed is not sent again, as in Tyk");
    let log = gateway.log();
    assert!(log.contains("a webhook failed") && log.contains("status 500") && log.contains("127.0.0.1:1"), "{log}");
    assert!(!log.contains("s3cret") && !log.contains("unknown-key"), "{log}");
}

#[test]
fn a_redirect_to_a_private_address_is_not_followed_unless_allowed() {
    let upstream = Upstream::ok();
    let inner = Upstream::ok();
    let target = inner.url();
    let receiver = Upstream::start(move |seen| match seen.target.as_str() {
        "/hook" => reply("307 Elsewhere", &[&format!("Location: {target}/inner")], ""),
        "/named" => reply("307 Elsewhere", &[&format!("Location: {}/inner", target.replace("127.0.0.1", "localhost"))], ""),
        "/own" => reply("307 Elsewhere", &["Location: /here"], ""),
        "/found" => reply("302 Elsewhere", &["Location: /here"], ""),
        "/loop" => reply("307 Elsewhere", &["Location: /loop"], ""),
        _ => ok(),
    });
    let start = |conf: Value, path: &str| {
        let meta = json!({"target_path": format!("{}{path}", receiver.url()), "header_map": {"X-Token": "t0ken"}});
        let events = json!({"AuthFailure": [webhook(&receiver, meta)]});
        let gateway = Gateway::start(conf, [with_events(keyed("a", &upstream), events)]);
        assert_eq!(call(&gateway, "/a/x", "unknown-key").status, 403);
        gateway
    };
    for path in ["/hook", "/named"] {
        let gateway = start(json!({}), path);
        eventually("it is refused", || count(&gateway, "redirected") == 1);
        assert!(gateway.log().contains("private"), "{}", gateway.log());
    }
    assert_eq!(inner.requests(), 0);
    let allowed = json!({"tollgate": {"events": {"redirect_networks": ["127.0.0.0/8", "::1"]}}});
    let gateway = start(allowed, "/hook");
    eventually("it is sent", || count(&gateway, "sent") == 1);
    let seen = inner.last();
    assert_eq!((seen.method.as_str(), seen.target.as_str(), seen.header("x-token")), ("POST", "/inner", None));
    assert!(seen.text().contains("AuthFailure"));
    // The receiver itself is not a new address.
    for (path, method, has_body) in [("/own", "POST", true), ("/found", "GET", false)] {
        let gateway = start(json!({}), path);
        eventually("it is sent", || count(&gateway, "sent") == 1);
        let seen = receiver.last();
        assert_eq!((seen.target.as_str(), seen.method.as_str(), !seen.text().is_empty()), ("/here", method, has_body));
        assert_eq!(seen.header("x-token"), Some("t0ken"));
    }
    let gateway = start(json!({}), "/loop");
    eventually("a loop ends", || count(&gateway, "redirected") == 1);
}

#[test]
fn templates_make_the_bodies() {
    let upstream = Upstream::ok();
    let receiver = Upstream::ok();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hook.txt");
    std::fs::write(&file, "{{.Type}} {{.Meta.Path}} {{with .Meta}}{{.Key | upper}}{{end}} {{.Meta.OriginatingRequest}}").unwrap();
    let hook = webhook(&receiver, json!({"template_path": file, "method": "PUT"}));
    let gateway = Gateway::start(json!({}), [with_events(keyed("a", &upstream), json!({"AuthFailure": [hook]}))]);
    gateway.send(request("GET", "/a/<x>?a=b", &["Authorization: unknown-key", "X-One: 1"], ""));
    eventually("the webhook is sent", || receiver.requests() == 1);
    let seen = receiver.last();
    let (start, encoded) = seen.text().rsplit_once(' ').map(|(start, encoded)| (start.to_owned(), encoded.to_owned())).unwrap();
    assert_eq!(start, "AuthFailure /a/&lt;x&gt; UNKNOWN-KEY", "escaped as Go's html/template does");
    let encoded = encoded.replace("&#43;", "+");
    let head = String::from_utf8(data_encoding_decode(&encoded)).unwrap();
    assert_eq!(head, "GET /a/<x>?a=b HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: ***\r\nX-One: 1\r\n\r\n");
    assert_eq!((seen.method.as_str(), seen.header("content-type")), ("PUT", None));
}

fn data_encoding_decode(text: &str) -> Vec<u8> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut decoder = Command::new("base64").arg("-d").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    decoder.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    decoder.wait_with_output().unwrap().stdout
}

#[test]
fn a_template_with_an_unknown_name_is_an_error_when_it_is_loaded() {
    let upstream = Upstream::ok();
    let receiver = Upstream::ok();
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let gateway = Gateway::start(json!({}), [keyed("a", &upstream)]);
    for (name, text, wanted) in [
        ("unknown.json", "{{.Meta.Keey}}", "\"Keey\" is not a name of any event"),
        ("other.json", "\n{{.Meta.HostInfo.CheckURL}}", "fails with AuthFailure events: line 2: can't evaluate field HostInfo"),
        ("function.json", "{{shout .Type}}", "function \"shout\" not defined"),
    ] {
        let hook = webhook(&receiver, json!({"template_path": write(name, text)}));
        gateway.write_api(&with_events(keyed("a", &upstream), json!({"AuthFailure": [hook]})));
        gateway.reload();
        let log = gateway.log();
        let line = log.lines().find(|line| line.contains(wanted)).unwrap_or_else(|| panic!("{wanted}: {log}"));
        assert!(
            line.contains("$.event_handlers.events.AuthFailure[0].handler_meta.template_path") && line.contains(name),
            "{line}"
        );
        assert_eq!(gateway.get("/a/x").status, 401, "the last good version stays");
    }
    // Tyk goes on with its default template when a file is missing.
    let hook = webhook(&receiver, json!({"template_path": dir.path().join("missing.json")}));
    gateway.write_api(&with_events(keyed("a", &upstream), json!({"AuthFailure": [hook]})));
    gateway.reload();
    assert!(gateway.log().contains("missing.json"), "{}", gateway.log());
    call(&gateway, "/a/x", "unknown-key");
    assert_eq!(bodies(&receiver, 1)[0]["event"], "AuthFailure");
}

#[test]
fn events_are_lines_of_the_log_without_keys() {
    let upstream = Upstream::ok();
    let handler = json!({"handler_name": "eh_log_handler", "handler_meta": {"prefix": "[my events]"}});
    let gateway = Gateway::start(json!({}), [with_events(keyed("a", &upstream), json!({"AuthFailure": [handler]}))]);
    call(&gateway, "/a/x", "unknown-key-1234");
    eventually("the line is there", || gateway.log().contains("[my events]:AuthFailure:****1234:127.0.0.1:/a/x"));
    assert!(!gateway.log().contains("unknown-key-1234"));
}

#[test]
fn a_handler_that_stays_the_same_outlives_a_reload() {
    let upstream = Upstream::ok();
    let receiver = Upstream::ok();
    let events = json!({"AuthFailure": [webhook(&receiver, json!({}))]});
    let gateway = Gateway::start(json!({}), [with_events(keyed("a", &upstream), events.clone())]);
    call(&gateway, "/a/x", "unknown-key");
    eventually("it is sent", || count(&gateway, "sent") == 1);
    gateway.write_api(&with_events(keyed("a", &upstream), events).set("name", "changed"));
    gateway.reload();
    call(&gateway, "/a/x", "unknown-key");
    assert_eq!((count(&gateway, "sent"), count(&gateway, "repeated")), (1, 1));
}

#[test]
fn keys_that_are_created_changed_and_removed_are_events_of_the_gateway() {
    let upstream = Upstream::ok();
    let receiver = Upstream::ok();
    let hook = || json!([webhook(&receiver, json!({}))]);
    let conf = json!({"event_handlers": {"events": {"TokenCreated": hook(), "TokenUpdated": hook(), "TokenDeleted": hook()}}});
    let gateway = Gateway::start(conf, [keyed("a", &upstream)]);
    let key = create(&gateway, &session(json!({})));
    assert_eq!(gateway.control("PUT", &format!("/tyk/keys/{key}"), &session(json!({"alias": "x"})).to_string()).status, 200);
    assert_eq!(gateway.control("DELETE", &format!("/tyk/keys/{key}?org_id=default"), "").status, 200);
    assert_eq!(gateway.control("DELETE", &format!("/tyk/keys/{key}"), "").status, 404);
    let body = |event: &str, message: &str| json!({"event": event, "message": message, "org": "default", "key": key});
    assert_eq!(
        bodies(&receiver, 3),
        [body("TokenCreated", "Key generated."), body("TokenUpdated", "Key modified."), body("TokenDeleted", "Key deleted.")]
    );
}

#[test]
fn a_breaker_that_opens_and_closes_is_told_even_if_no_request_comes() {
    let upstream = Upstream::start(|_| reply("500 Broken", &[], ""));
    let receiver = Upstream::ok();
    let hook = || json!([webhook(&receiver, json!({}))]);
    let entry = json!({
        "path": "/x", "method": "GET", "threshold_percent": 0.5, "samples": 3, "return_to_service_after": 1, "disable_half_open_state": true,
    });
    let definition = api("a", "/a/", &upstream.url()).list("circuit_breakers", json!([entry]));
    let events = json!({"BreakerTriggered": hook(), "BreakerTripped": hook(), "BreakerReset": hook()});
    let gateway = Gateway::start(json!({}), [with_events(definition, events)]);
    assert_eq!([0; 3].map(|_| gateway.get("/a/x").status), [500; 3]);
    let mut told = bodies(&receiver, 4);
    let key = |body: &Value| format!("{}{}", body["message"].as_str().unwrap(), body["event"].as_str().unwrap());
    told.sort_by_key(|body| std::cmp::Reverse(key(body)));
    let body = |event: &str, message: &str| json!({"event": event, "message": message, "api_id": "a", "path": "/x"});
    let triggered = |message: &str, status: &str| {
        let mut body = body("BreakerTriggered", message);
        body["Status"] = json!(status);
        body
    };
    assert_eq!(
        told,
        [
            body("BreakerTripped", "Breaker Tripped"),
            triggered("Breaker Tripped", "0"),
            triggered("Breaker Reset", "1"),
            body("BreakerReset", "Breaker Reset"),
        ]
    );
    assert_eq!(gateway.get("/a/x").status, 500, "it is closed");
}

#[test]
fn targets_that_go_down_and_come_up_are_told() {
    let is_well = Arc::new(AtomicBool::new(true));
    let switch = is_well.clone();
    let upstream = Upstream::start(move |_| if switch.load(Ordering::SeqCst) { ok() } else { reply("503 Ill", &[], "") });
    let receiver = Upstream::ok();
    let hook = || json!([webhook(&receiver, json!({}))]);
    let definition = api("a", "/a/", "http://unused.test")
        .set("proxy/enable_load_balancing", true)
        .set("proxy/target_list", json!([upstream.url()]))
        .set("uptime_tests", json!({"check_list": [{"url": format!("{}/health", upstream.url())}]}));
    let conf = json!({"uptime_tests": {"config": {"failure_trigger_sample_size": 1, "time_wait": 1}}});
    let gateway = Gateway::start(conf, [with_events(definition, json!({"HostDown": hook(), "HostUp": hook()}))]);
    eventually("it is checked", || upstream.requests() > 0);
    is_well.store(false, Ordering::SeqCst);
    eventually("it is down", || receiver.requests() == 1);
    is_well.store(true, Ordering::SeqCst);
    let body = |event: &str, message: &str, status: &str| {
        json!({
            "event": event, "message": message, "url": format!("{}/health", upstream.url()), "response_code": status, "tcp_error": "false",
            "host": upstream.address.to_string(), "api_id": "a",
        })
    };
    assert_eq!(
        bodies(&receiver, 2),
        [body("HostDown", "Uptime test failed", "503"), body("HostUp", "Uptime test succeeded", "200")]
    );
    drop(gateway);
}

#[test]
fn organisations_over_their_limits_are_told() {
    let upstream = Upstream::ok();
    let receiver = Upstream::ok();
    let definition = api("a", "/a/", &upstream.url()).set("org_id", "acme");
    let events =
        json!({"OrgRateLimitExceeded": [webhook(&receiver, json!({}))], "OrgQuotaExceeded": [webhook(&receiver, json!({}))]});
    let gateway = Gateway::start(json!({"enforce_org_quotas": true}), [with_events(definition, events)]);
    for (limits, event, message) in [
        (json!({"rate": 1, "per": 3600}), "OrgRateLimitExceeded", "Organisation rate limit has been exceeded"),
        (json!({"quota_max": 1, "quota_renewal_rate": 3600}), "OrgQuotaExceeded", "Organisation quota has been exceeded"),
    ] {
        let before = receiver.requests();
        assert_eq!(gateway.control("PUT", "/tyk/org/keys/acme", &limits.to_string()).status, 200);
        assert_eq!([0; 2].map(|_| gateway.get("/a/").status), [200, 403]);
        let told = bodies(&receiver, before + 1).pop();
        assert_eq!(told, Some(json!({"event": event, "message": message, "path": "/a/", "origin": "127.0.0.1", "key": "acme"})));
    }
}

#[test]
fn what_a_handler_can_not_do_is_named_when_it_is_loaded() {
    let upstream = Upstream::ok();
    let events = json!({
        "TokenCreated": [{"handler_name": "eh_log_handler", "handler_meta": {}}],
        "NoSuchEvent": [{"handler_name": "eh_log_handler", "handler_meta": {}}],
        "HostDown": [{"handler_name": "eh_dynamic_handler", "handler_meta": {"name": "f", "path": std::env::temp_dir().join("nowhere/f.js")}}],
    });
    let gateway = Setup::new(json!({})).api(with_events(keyed("a", &upstream), events)).start();
    let log = gateway.log();
    for wanted in [
        "$.event_handlers.events.TokenCreated",
        "\"NoSuchEvent\" is no event",
        "$.event_handlers.events.HostDown[0].handler_meta.path",
    ] {
        assert!(log.contains(wanted), "{wanted}: {log}");
    }
    assert_eq!(gateway.send(get("/a/")).status, 401);
}

#[test]
fn what_protects_nothing_does_not_take_an_api_down() {
    let upstream = Upstream::ok();
    let webhook = |meta: Value| json!({"handler_name": "eh_web_hook_handler", "handler_meta": meta});
    for (field, value) in [
        ("event_handlers", json!({"events": {"AuthFailure": [webhook(json!({"target_path": "/hook"}))]}})),
        ("event_handlers", json!({"events": {"AuthFailure": [webhook(json!({"target_path": "ftp://hooks.test/"}))]}})),
        (
            "event_handlers",
            json!({"events": {"AuthFailure": [webhook(json!({"target_path": "http://h.test/", "header_map": {"X": "a\nb"}}))]}}),
        ),
        ("event_handlers", json!({"events": {"AuthFailure": [{"handler_name": "eh_mail"}]}})),
        (
            "event_handlers",
            json!({"events": {"AuthFailure": [{"handler_name": "eh_dynamic_handler", "handler_meta": {"name": "f", "path": "none.js"}}]}}),
        ),
        (
            "version_data/versions/Default/extended_paths/circuit_breakers",
            json!([{"path": "/", "method": "GET", "threshold_percent": 50, "samples": 1}]),
        ),
    ] {
        let definition = api("a", "/a/", &upstream.url()).set(field, value.clone());
        let gateway = Gateway::start(json!({}), [definition]);
        assert_eq!(gateway.get("/a/x").status, 200, "{value}\n{}", gateway.log());
        assert!(gateway.log().contains("WARN"), "{value} is reported:\n{}", gateway.log());
    }
    // A field that protects keeps the API away.
    let definition = api("a", "/a/", &upstream.url()).set("allowed_ips", json!(["ten"])).set("enable_ip_whitelisting", true);
    assert_eq!(Gateway::start(json!({}), [definition]).get("/a/x").status, 404);
}
