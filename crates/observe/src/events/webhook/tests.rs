use super::{Webhook, resolved};
use crate::events::event::{EventFacts, GatewayEvent};
use crate::events::template::EventTemplate;
use http::Uri;
use std::sync::Arc;
use tollgate_model::events::{EventHandlerMeta, EventKind};

fn webhook(method: &str, target: &str) -> Webhook {
    let meta = EventHandlerMeta { method: method.to_owned(), target_path: target.to_owned(), ..EventHandlerMeta::default() };
    Webhook::new(&meta, Arc::new(EventTemplate::parse("{{.Type}}").unwrap()), true).unwrap()
}

#[test]
fn locations_lead_where_they_say() {
    let from: Uri = "http://hooks.test:8080/a/b?c=d".parse().unwrap();
    for (location, wanted) in [
        ("/x?y=1", Some("http://hooks.test:8080/x?y=1")),
        ("x", Some("http://hooks.test:8080/a/x")),
        ("?z=1", Some("http://hooks.test:8080/a/b?z=1")),
        ("//other.test/x", Some("http://other.test/x")),
        ("https://other.test/x", Some("https://other.test/x")),
        ("http://user:word@other.test/x", Some("http://other.test/x")),
        ("ftp://other.test/x", None),
        ("file:///etc/passwd", None),
        ("http://", None),
        ("/a\u{7f}b", None),
    ] {
        let next = resolved(&from, location).map(|uri| uri.to_string());
        assert_eq!(next.as_deref(), wanted, "{location}");
    }
}

/// Computed with Go 1.26: the MD5 of `http.NewRequest(method, url, body)` as `Request.Write` writes it, as Tyk's Checksum does at 31e219b.
#[test]
fn checksums_are_those_of_tyk() {
    let event = GatewayEvent::sample(EventKind::QuotaExceeded);
    for (method, target, body, wanted) in CHECKSUMS {
        assert_eq!(webhook(method, target).checksum(&event, body), *wanted, "{method} {target}");
    }
    let certificate = GatewayEvent {
        kind: EventKind::CertificateExpired,
        facts: EventFacts::Certificate {
            id: "id".to_owned(),
            name: "name".to_owned(),
            ends_unix_s: 1_763_774_611,
            days: 3,
            api: "a".to_owned(),
            role: "client",
            has_ended: true,
        },
        ..event
    };
    assert_eq!(webhook("POST", "http://h.test/").checksum(&certificate, "any"), "b0e1a8f1d3d17e5ae85542d0a01e85a7");
}

const CHECKSUMS: &[(&str, &str, &str, &str)] = &[
    ("POST", "http://hooks.test/x?y=1", "{\"a\":1}", "bd91113e1d46aa746c78d31ac94777fc"),
    ("GET", "http://hooks.test:8080", "body", "e283d3cc91c512cf974e2493ea11489c"),
    ("GET", "https://hooks.test/", "", "eb674c9745cc7f2f367bb3c28e3b6249"),
    ("PUT", "http://hooks.test/", "", "4428281644fd44618e1fbc200e03e42f"),
    ("DELETE", "http://hooks.test/", "", "dd97c0c175183732f14f5d69b9064822"),
];

#[test]
fn credentials_of_a_url_become_a_header_line() {
    let webhook = webhook("POST", "http://user:pa%20ss@hooks.test:81/x");
    assert_eq!((webhook.uri.to_string(), webhook.receiver()), ("http://hooks.test:81/x".to_owned(), "hooks.test:81".to_owned()));
    assert_eq!(webhook.headers["authorization"], "Basic dXNlcjpwYSBzcw==");
}
