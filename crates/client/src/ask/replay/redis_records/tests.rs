use super::*;
use std::borrow::Cow;
use tollgate_model::analytics::{AnalyticsRecord, RecordTime};

fn record() -> AnalyticsRecord<'static> {
    AnalyticsRecord {
        method: Cow::Borrowed("PUT"),
        api_key: Cow::Borrowed("1a2b3c4d"),
        api_id: Cow::Borrowed("orders"),
        ip_address: Cow::Borrowed("203.0.113.7"),
        listen_path: Cow::Borrowed("/orders/"),
        raw_path: Cow::Borrowed("/17"),
        original_path: Cow::Borrowed("/orders/17"),
        content_length: 12,
        response_code: 403,
        timestamp: RecordTime { unix_s: 1_700_000_000, ns: 250_000_000 },
        ..AnalyticsRecord::default()
    }
}

#[test]
fn records_of_both_forms_have_the_members_of_json() {
    let mut msgpack = Vec::new();
    record().append_msgpack(&mut msgpack);
    let mut protobuf = Vec::new();
    record().append_protobuf(&mut protobuf);
    let expected = json!({
        "method": "PUT", "api_key": "1a2b3c4d", "api_id": "orders", "ip_address": "203.0.113.7", "listen_path": "/orders/", "raw_path": "/17",
        "original_path": "/orders/17", "raw_request": "", "content_length": 12, "response_code": 403, "timestamp": "2023-11-14T22:13:20.250Z",
    });
    assert_eq!(Value::Object(msgpack_members(&msgpack).unwrap()), expected);
    assert_eq!(Value::Object(analytics::protobuf_members(&protobuf).unwrap()), expected);
}

#[test]
fn what_is_no_record_says_so() {
    assert_eq!(msgpack_members(&[0x05]).unwrap_err(), "is no map");
    assert!(msgpack_members(&[0xdf, 0xff]).unwrap_err().starts_with("is no MessagePack"));
    assert!(analytics::protobuf_members(&[0xff, 0xff]).unwrap_err().starts_with("is no record"));
}

#[test]
fn addresses_are_shown_without_passwords() {
    assert_eq!(shown_address("redis://user:p@ss@redis.int:6379/1"), "redis://redis.int:6379/1");
    assert_eq!(shown_address("rediss://redis.int"), "rediss://redis.int");
}
