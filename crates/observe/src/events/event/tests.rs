use super::{EventFacts, GatewayEvent, shortened_key};
use crate::events::template::EventTemplate;
use serde_json::{Value, json};
use tollgate_model::events::EventKind;

fn event(kind: EventKind, message: &'static str, facts: EventFacts) -> GatewayEvent {
    GatewayEvent { kind, message: message.into(), unix_ns: 1_763_774_611_120_000_000, request: String::new(), facts }
}

fn text(text: &str) -> String {
    text.to_owned()
}

/// Members and values as templates/default_webhook.json of Tyk at 31e219b makes them of the same events.
#[test]
fn default_bodies_are_those_of_tyk() {
    let key = || EventFacts::Key { path: text("/a/b"), origin: text("10.0.0.1"), key: text("default123") };
    let host = || EventFacts::Host {
        check: text("http://up.test/health"),
        host: text("up.test"),
        api: text("a"),
        status: 503,
        is_tcp_error: false,
    };
    let breaker = |is_open| EventFacts::Breaker { path: text("/slow"), api: text("a"), is_open };
    let certificate = |has_ended| EventFacts::Certificate {
        id: text("ab12"),
        name: text("client"),
        ends_unix_s: 1_763_774_611,
        days: 3,
        api: text("a"),
        role: "client",
        has_ended,
    };
    for (event, wanted) in [
        (
            event(EventKind::QuotaExceeded, "Key Quota Limit Exceeded", key()),
            json!({"event": "QuotaExceeded", "message": "Key Quota Limit Exceeded", "path": "/a/b", "origin": "10.0.0.1", "key": "default123"}),
        ),
        (
            event(EventKind::HostDown, "Uptime test failed", host()),
            json!({
                "event": "HostDown", "message": "Uptime test failed", "url": "http://up.test/health", "response_code": "503",
                "tcp_error": "false", "host": "up.test", "api_id": "a",
            }),
        ),
        (
            event(
                EventKind::TriggerExceeded,
                "Quota trigger reached",
                EventFacts::Trigger { org: text("o"), key: text("k"), limit: 80, usage: 81 },
            ),
            json!({"event": "TriggerExceeded", "message": "Quota trigger reached", "org": "o", "key": "k", "trigger_limit": "80"}),
        ),
        (
            event(EventKind::BreakerTriggered, "Breaker Reset", breaker(false)),
            json!({"event": "BreakerTriggered", "message": "Breaker Reset", "api_id": "a", "path": "/slow", "Status": "1"}),
        ),
        (
            event(EventKind::BreakerTripped, "Breaker Tripped", breaker(true)),
            json!({"event": "BreakerTripped", "message": "Breaker Tripped", "api_id": "a", "path": "/slow"}),
        ),
        (
            event(EventKind::CertificateExpiringSoon, "soon", certificate(false)),
            json!({
                "event": "CertificateExpiringSoon", "message": "soon", "cert_id": "ab12", "cert_name": "client",
                "expires_at": "2025-11-22T01:23:31Z", "days_remaining": 3, "cert_role": "client", "api_id": "a",
                "timestamp": "2025-11-22T01:23:31Z",
            }),
        ),
        (
            event(EventKind::CertificateExpired, "over", certificate(true)),
            json!({
                "event": "CertificateExpired", "message": "over", "cert_id": "ab12", "cert_name": "client",
                "expired_at": "2025-11-22T01:23:31Z", "days_since_expiry": 3, "cert_role": "client", "api_id": "a",
                "timestamp": "2025-11-22T01:23:31Z",
            }),
        ),
        // Tyk's own template can't render these two: it has no such fields for one, and a comma too many for the other.
        (
            event(EventKind::TokenCreated, "Key generated.", EventFacts::Token { org: text("o"), key: text("k") }),
            json!({"event": "TokenCreated", "message": "Key generated.", "org": "o", "key": "k"}),
        ),
        (
            event(EventKind::UpstreamOAuthError, "no token", EventFacts::UpstreamToken { api: text("a") }),
            json!({"event": "UpstreamOAuthError", "message": "no token", "api_id": "a"}),
        ),
    ] {
        let body = EventTemplate::built_in().render(&event).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), wanted, "{body}");
    }
}

#[test]
fn every_event_has_a_default_body_in_json() {
    for kind in EventKind::ALL {
        let body = EventTemplate::built_in().render(&GatewayEvent::sample(kind)).unwrap();
        let body: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(body["event"], kind.name());
    }
}

#[test]
fn lines_of_the_log_are_those_of_tyk_with_shortened_keys() {
    let key = EventFacts::Key { path: text("/a/b"), origin: text("10.0.0.1"), key: text("default123") };
    let breaker = EventFacts::Breaker { path: text("/slow"), api: text("a"), is_open: true };
    assert_eq!(event(EventKind::AuthFailure, "", key).line("[x]"), "[x]:AuthFailure:****t123:10.0.0.1:/a/b");
    assert_eq!(event(EventKind::BreakerTripped, "", breaker).line("p"), "p:BreakerTripped:a:/slow: [STATUS] 0");
    for (key, shown) in [("", ""), ("abc", "****"), ("abcd", "****"), ("abcde", "****bcde"), ("ключи", "****ч")] {
        assert!(shortened_key(key).starts_with(&shown.chars().take(4).collect::<String>()), "{key}");
        assert!(key.is_empty() || !shortened_key(key).contains(key), "{key}");
    }
}

#[test]
fn only_what_an_event_is_about_tells_it_from_others() {
    let key = |path: &str| EventFacts::Key { path: text(path), origin: text("o"), key: text("k") };
    let one = event(EventKind::QuotaExceeded, "m", key("/a"));
    let later = GatewayEvent { unix_ns: 5, request: text("R0VU"), ..one.clone() };
    assert_eq!(one.identity(), later.identity());
    for other in [
        event(EventKind::QuotaExceeded, "m", key("/b")),
        event(EventKind::QuotaExceeded, "n", key("/a")),
        event(EventKind::KeyExpired, "m", key("/a")),
    ] {
        assert_ne!(one.identity(), other.identity());
    }
    let certificate = |days| EventFacts::Certificate {
        id: text("i"),
        name: text("n"),
        ends_unix_s: 1,
        days,
        api: text("a"),
        role: "client",
        has_ended: false,
    };
    let [today, tomorrow] = [4, 3].map(|days| event(EventKind::CertificateExpiringSoon, "m", certificate(days)).identity());
    assert_eq!(today, tomorrow);
}
