use super::*;
use crate::facts::ApiMetadata;
use crate::trace::TraceId;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use std::collections::BTreeMap;
use tollgate_model::analytics::RecordTime;

fn made(change: impl FnOnce(&mut RequestRecord)) -> (Span, Option<Span>) {
    let mut record = RequestRecord::default();
    record.write(Text::Method, b"GET");
    record.write(Text::Authority, b"shop.test:8443");
    record.write(Text::UpstreamHost, b"[::1]:81");
    record.write(Text::OriginalPath, b"/shop/a");
    record.total_ns = 30_000_000;
    (record.status, record.upstream_status) = (200, 200);
    (record.sent_after_ns, record.upstream_ns) = (Some(1_000_000), 20_000_000);
    change(&mut record);
    let facts =
        ApiMetadata { id: "1".to_owned(), name: "shop".to_owned(), listen_path: "/shop/".to_owned(), ..ApiMetadata::default() };
    let hit = RecordRef { record: &record, facts: &facts, peer: "", time: RecordTime { unix_s: 100, ns: 50_000_000 } };
    let trace =
        RequestTrace { id: TraceId(7), parent: 5, server_span: 8, client_span: 9, taken: true, inherited: true, is_random: false };
    (server_span(&hit, &trace), client_span(&hit, &trace))
}

fn attributes(span: &Span) -> BTreeMap<&str, String> {
    let shown = |value: &KeyValue| match value.value.as_ref().unwrap().value.as_ref().unwrap() {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    span.attributes.iter().map(|attribute| (attribute.key.as_str(), shown(attribute))).collect()
}

#[test]
fn two_spans_lie_within_each_other() {
    let (server, client) = made(|_| {});
    let client = client.unwrap();
    assert_eq!((server.start_time_unix_nano, server.end_time_unix_nano), (100_020_000_000, 100_050_000_000));
    assert_eq!((client.start_time_unix_nano, client.end_time_unix_nano), (100_021_000_000, 100_041_000_000));
    assert_eq!((server.parent_span_id, server.span_id.clone()), (vec![0, 0, 0, 0, 0, 0, 0, 5], vec![0, 0, 0, 0, 0, 0, 0, 8]));
    assert_eq!((client.parent_span_id, client.span_id), (server.span_id, vec![0, 0, 0, 0, 0, 0, 0, 9]));
    assert_eq!((server.name.as_str(), client.name.as_str()), ("GET /shop/", "GET"));
    assert_eq!((server.status, client.status), (None, None));
}

#[test]
fn a_request_that_went_nowhere_has_one_span() {
    let (server, client) = made(|record| {
        (record.sent_after_ns, record.status, record.upstream_status, record.cause) = (None, 401, 0, Some("auth_missing"));
    });
    assert_eq!(client, None);
    assert_eq!(attributes(&server)["error.type"], "auth_missing");
    assert_eq!(server.status, None, "it is the client's mistake");
}

#[test]
fn an_upstream_that_fails_fails_both() {
    let error = |message: &str| Some(Status { code: StatusCode::Error.into(), message: message.to_owned() });
    let (server, client) =
        made(|record| (record.status, record.upstream_status, record.cause) = (504, 0, Some("upstream_timeout")));
    let client = client.unwrap();
    assert_eq!((server.status.clone(), client.status.clone()), (error("upstream_timeout"), error("upstream_timeout")));
    assert_eq!(attributes(&server)["http.response.status_code"], "504");
    assert!(!attributes(&client).contains_key("http.response.status_code"), "it answered nothing");

    let (server, client) = made(|record| (record.status, record.upstream_status) = (404, 404));
    assert_eq!((server.status, client.unwrap().status), (None, error("")), "as the conventions have it");
}

#[test]
fn hosts_and_ports_are_told_apart() {
    for (authority, expected) in [
        ("shop.test:8443", ("shop.test", 8443)),
        ("shop.test", ("shop.test", 80)),
        ("shop.test:", ("shop.test:", 80)),
        ("[::1]:81", ("::1", 81)),
        ("[::1]", ("::1", 80)),
        ("", ("", 80)),
    ] {
        assert_eq!(host_and_port(authority.as_bytes(), 80), (expected.0.as_bytes(), expected.1), "{authority}");
    }
}

#[test]
fn what_a_client_makes_long_is_cut() {
    let (server, _) = made(|record| {
        *record = RequestRecord::default();
        record.write(Text::Method, b"BREW");
        record.write(Text::OriginalPath, b"/");
        record.append(&[b'x'; 5_000]);
    });
    let attributes = attributes(&server);
    assert_eq!(attributes["url.path"].len(), ATTRIBUTE_BYTES_MAX);
    assert_eq!(
        (attributes["http.request.method"].as_str(), attributes["http.request.method_original"].as_str()),
        ("_OTHER", "BREW")
    );
    assert_eq!(server.name, "HTTP /shop/");
}
