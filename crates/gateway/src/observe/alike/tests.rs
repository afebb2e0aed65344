use super::*;
use crate::observe::facts::ApiFacts;
use crate::observe::record::{Record, Text};
use std::net::Ipv4Addr;
use tollgate_model::analytics::Time;

fn record(method: &str, agent: &str, path: &str) -> Record {
    let mut record = Record::default();
    record.write(Text::Method, method.as_bytes());
    record.write(Text::UserAgent, agent.as_bytes());
    record.write(Text::Path, path.as_bytes());
    record
}

fn hit<'r>(record: &'r Record, facts: &'r ApiFacts) -> Hit<'r> {
    Hit { record, facts, peer: "", time: Time { unix_s: 7_200, ns: 0 } }
}

#[test]
fn requests_that_differ_in_what_is_written_have_values_of_their_own() {
    let (facts, other_api) = (ApiFacts::default(), ApiFacts { serial: 1, ..ApiFacts::default() });
    let first = record("GET", "me", "/a");
    let mut made = 0;
    let mut alike = Alike::default();
    let mut number = |hit: &Hit<'_>| {
        *alike.of(hit, || {
            made += 1;
            made
        })
    };
    assert_eq!(number(&hit(&first, &facts)), 1);
    assert_eq!(number(&hit(&record("GET", "me", "/b"), &facts)), 1, "a path is a request's own");
    assert_eq!(number(&hit(&first, &other_api)), 2);
    assert_eq!(number(&hit(&record("PUT", "me", "/a"), &facts)), 3);
    assert_eq!(number(&hit(&record("GET", "em", "/a"), &facts)), 4, "the same number, other texts");
    assert_eq!(number(&hit(&record("GETm", "e", "/a"), &facts)), 5, "the same texts, other ends");
    let mut elsewhere = record("GET", "me", "/a");
    elsewhere.client_ip = IpAddr::V4(Ipv4Addr::LOCALHOST);
    assert_eq!(number(&hit(&elsewhere, &facts)), 6);
    let mut http2 = record("GET", "me", "/a");
    http2.http2 = true;
    assert_eq!(number(&hit(&http2, &facts)), 7);
    for (status, cause, value) in [(404, None, 8), (404, Some("not_found"), 9), (404, Some("found_not"), 10)] {
        let mut ended = record("GET", "me", "/a");
        (ended.status, ended.cause) = (status, cause);
        assert_eq!(number(&hit(&ended, &facts)), value, "{status} {cause:?}");
    }
    assert_eq!(number(&Hit { time: Time { unix_s: 10_800, ns: 0 }, ..hit(&http2, &facts) }), 11, "the next hour");
}

#[test]
fn it_has_a_bound() {
    let mut alike = Alike::default();
    let record = record("GET", "me", "/a");
    for serial in 0..3 * KEPT_MAX as u64 {
        let facts = ApiFacts { serial, ..ApiFacts::default() };
        assert_eq!(*alike.of(&hit(&record, &facts), || serial), serial);
        assert!(alike.values.len() <= KEPT_MAX);
    }
    alike.forget();
    assert!(alike.values.is_empty());
}
