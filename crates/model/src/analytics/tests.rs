use super::*;

fn record() -> AnalyticsRecord<'static> {
    let mut record = AnalyticsRecord {
        method: "GET".into(),
        host: "upstream:9090".into(),
        user_agent: "curl/8".into(),
        api_key: "1c0ff1ce".into(),
        api_version: NOT_VERSIONED.into(),
        api_name: "Shop".into(),
        api_id: "shop".into(),
        org_id: "default".into(),
        ip_address: "192.0.2.1".into(),
        tags: vec!["key-1c0ff1ce".into(), "org-default".into(), "api-shop".into()],
        alias: "me".into(),
        listen_path: "/shop/".into(),
        path: "/a/{id}".into(),
        raw_path: "/a/7".into(),
        original_path: "/shop/a/7".into(),
        content_length: -1,
        response_code: 200,
        request_time: 21,
        network: Network { bytes_in: 5, bytes_out: 300, ..Network::default() },
        latency: Latency { total: 21, upstream: 7, gateway: 14 },
        ..AnalyticsRecord::default()
    };
    record.geo.country.iso_code = "IT".to_owned();
    record.geo.city = City { geoname_id: 3_172_394, names: BTreeMap::from([("en".to_owned(), "Naples".to_owned())]) };
    record.geo.location = Location { latitude: 40.85, longitude: 14.27, time_zone: "Europe/Rome".to_owned() };
    record.set_time(RecordTime { unix_s: 1_795_310_611, ns: 123_456_789 }, 60);
    record
}

fn msgpack(record: &AnalyticsRecord<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    record.append_msgpack(&mut out);
    out
}

/// A MessagePack value, read by an independent decoder.
fn decoded(bytes: &[u8]) -> rmpv::Value {
    let mut rest = bytes;
    let value = rmpv::decode::read_value(&mut rest).unwrap();
    assert!(rest.is_empty());
    value
}

fn field<'v>(value: &'v rmpv::Value, path: &str) -> &'v rmpv::Value {
    path.split('.').fold(value, |value, name| {
        let members = value.as_map().unwrap();
        let found: Vec<_> = members.iter().filter(|(key, _)| key.as_str() == Some(name)).collect();
        assert_eq!(found.len(), 1, "{name} in {path}");
        &found[0].1
    })
}

#[test]
fn a_decoder_finds_every_field_under_its_go_name_and_type() {
    let value = decoded(&msgpack(&record()));
    let texts = "Method Host Path RawPath UserAgent APIKey APIVersion APIName APIID OrgID OauthID RawRequest RawResponse \
                 IPAddress Alias ApiSchema OriginalPath ListenPath CollectionName Geo.Country.ISOCode Geo.Location.TimeZone";
    let numbers = "ContentLength Day Month Year Hour ResponseCode RequestTime Geo.City.GeoNameID Network.OpenConnections \
                   Network.ClosedConnection Network.BytesIn Network.BytesOut Latency.Total Latency.Upstream Latency.Gateway";
    texts.split_whitespace().for_each(|name| assert!(field(&value, name).is_str(), "{name}"));
    numbers.split_whitespace().for_each(|name| assert!(field(&value, name).is_i64(), "{name}"));
    assert_eq!(field(&value, "Geo.City.Names.en").as_str(), Some("Naples"));
    assert_eq!(field(&value, "Geo.Location.Latitude").as_f64(), Some(40.85));
    assert_eq!(field(&value, "TrackPath").as_bool(), Some(false));
    assert_eq!(field(&value, "Tags").as_array().unwrap().len(), 3);
    assert_eq!(field(&value, "TimeStamp").as_array().unwrap(), &[1_795_310_611i64.into(), 123_456_789i64.into()]);
    assert_eq!(field(&value, "ExpireAt").as_array().unwrap()[0].as_i64(), Some(1_795_310_671));
    let date = ["Year", "Month", "Day", "Hour"].map(|name| field(&value, name).as_i64().unwrap());
    assert_eq!(date, [2026, 11, 22, 1]);
}

#[test]
fn the_bytes_are_those_of_the_golden_record() {
    let golden = include_str!("golden.hex").split_whitespace().collect::<String>();
    let own: String = msgpack(&record()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(own, golden);
}

#[test]
fn the_bytes_of_protocol_buffers_are_those_of_another_encoder() {
    let golden = include_str!("protobuf.hex").split_whitespace().collect::<String>();
    let mut own = Vec::new();
    record().append_protobuf(&mut own);
    let own: String = own.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(own, golden);
}

#[test]
fn an_empty_record_is_complete() {
    let value = decoded(&msgpack(&AnalyticsRecord::default()));
    assert_eq!(value.as_map().unwrap().len(), 35);
    assert_eq!(field(&value, "GraphQLStats").as_map().unwrap().len(), 7);
    assert_eq!(field(&value, "GraphQLStats.IsGraphQL").as_bool(), Some(false));
    assert!(field(&value, "GraphQLStats.Types").is_nil());
    assert_eq!(field(&value, "MCPStats").as_map().unwrap().len(), 4);
    assert_eq!(field(&value, "MCPStats.PrimitiveName").as_str(), Some(""));
    assert!(field(&value, "Geo.City.Names").is_nil());
}

/// A record of a call.
fn called() -> AnalyticsRecord<'static> {
    let (jsonrpc_method, primitive_type) = ("tools/call".into(), "tool".into());
    let mcp = McpStats { is_mcp: true, jsonrpc_method, primitive_type, primitive_name: "get \"x\"".into() };
    AnalyticsRecord { mcp: Some(mcp), ..record() }
}

#[test]
fn a_call_is_told_in_every_format() {
    let value = decoded(&msgpack(&called()));
    assert_eq!(value.as_map().unwrap().len(), 35);
    assert_eq!(field(&value, "MCPStats.IsMCP").as_bool(), Some(true));
    assert_eq!(field(&value, "MCPStats.JSONRPCMethod").as_str(), Some("tools/call"));
    assert_eq!(field(&value, "MCPStats.PrimitiveType").as_str(), Some("tool"));
    assert_eq!(field(&value, "MCPStats.PrimitiveName").as_str(), Some("get \"x\""));
    assert_eq!(field(&value, "GraphQLStats.IsGraphQL").as_bool(), Some(false));

    let mut json = Vec::new();
    called().append_json(&mut json);
    assert_eq!(String::from_utf8(json).unwrap(), serde_json::to_string(&called()).unwrap());
    let json = serde_json::to_value(called()).unwrap();
    let stats = serde_json::json!({"is_mcp": true, "jsonrpc_method": "tools/call", "primitive_type": "tool", "primitive_name": "get \"x\""});
    assert_eq!(json["mcp_stats"], stats);
    assert_eq!(serde_json::to_value(record()).unwrap().get("mcp_stats"), None);

    let (mut with, mut without) = (Vec::new(), Vec::new());
    called().append_protobuf(&mut with);
    record().append_protobuf(&mut without);
    // Field 33 with its length, and in it fields 1 to 4.
    let message = b"\x8a\x02\x1d\x08\x01\x12\x0atools/call\x1a\x04tool\x22\x07get \"x\"";
    assert_eq!(with.len(), without.len() + message.len());
    assert!(with.windows(message.len()).any(|part| part == message));
}

#[test]
fn json_has_the_pumps_names() {
    let json = serde_json::to_value(record()).unwrap();
    assert_eq!(json["timestamp"], "2026-11-22T01:23:31.123Z");
    assert_eq!(json["expireAt"], "2026-11-22T01:24:31.123Z");
    assert_eq!(json["geo"]["city"]["geoname_id"], 3_172_394);
    assert_eq!(json["network"]["closed_connections"], 0);
    assert_eq!(json["latency"]["gateway"], 14);
    assert_eq!(json["track_path"], false);
}

#[test]
fn json_is_that_of_serde() {
    let odd = AnalyticsRecord {
        user_agent: "\"odd\"\n".into(),
        alias: "back\\slash".into(),
        host: "\u{1}é".into(),
        tags: vec!["a".into()],
        track_path: true,
        ..AnalyticsRecord::default()
    };
    for record in [AnalyticsRecord::default(), record(), odd] {
        let mut own = Vec::new();
        record.append_json(&mut own);
        assert_eq!(String::from_utf8(own).unwrap(), serde_json::to_string(&record).unwrap());
    }
}

#[test]
fn json_can_be_read_again() {
    let mut record = record();
    let json = serde_json::to_string(&record).unwrap();
    let read: AnalyticsRecord<'_> = serde_json::from_str(&json).unwrap();
    // Not in JSON: a part of a millisecond, and what a GraphQL request asked for.
    record.timestamp.ns = 123_000_000;
    record.expire_at.ns = 123_000_000;
    (record.graphql, record.collection_name) = (None, "".into());
    assert_eq!(read, record);
    let few: AnalyticsRecord<'_> = serde_json::from_str(r#"{"method": "GET", "unknown": 1}"#).unwrap();
    assert_eq!(few, AnalyticsRecord { method: "GET".into(), ..AnalyticsRecord::default() });
    for bad in [r#"{"method": 5}"#, r#"{"timestamp": "yesterday"}"#, "5"] {
        assert!(serde_json::from_str::<AnalyticsRecord<'_>>(bad).is_err(), "{bad}");
    }
}

#[test]
fn without_an_age_a_record_lives_a_hundred_years() {
    let mut record = AnalyticsRecord::default();
    record.set_time(RecordTime { unix_s: 10, ns: 0 }, 0);
    assert_eq!(record.expire_at.unix_s, 10 + 100 * 365 * 86_400);
}
