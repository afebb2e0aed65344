//! Analytics records in the lists of a real Redis, from which tyk-pump takes them: what is in them, and that nothing gets lost which
//! is not counted as lost.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use rmpv::Value;
use serde_json::json;

use crate::analytics::{KEY, make_key, tracked};
use crate::harness::{Gateway, Upstream, eventually, get, ok, request};
use crate::jwt_issuers::python;
use crate::metrics::scrape;
use crate::servers::{Cluster, Server, free_port};

const LIST: &str = "analytics-tyk-system-analytics";

/// Records into a Redis of their own; the embedded store has the keys.
fn recording_to(port: u16) -> serde_json::Value {
    json!({
        "enable_analytics": true,
        "hash_keys": true,
        "enable_separate_analytics_store": true,
        "analytics_storage": {"type": "redis", "host": "127.0.0.1", "port": port},
        "tollgate": {"threads": 1, "analytics": {"usage": false}}
    })
}

/// The bytes of a list's records, taken out as a pump does.
pub(crate) fn taken(server: &Server, list: &str) -> Vec<Vec<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    write!(stream, "*3\r\n$4\r\nLPOP\r\n${}\r\n{list}\r\n$6\r\n100000\r\n", list.len()).unwrap();
    let mut reader = BufReader::new(stream);
    // `*2` before an array of two, `$17` before seventeen bytes, -1 for what is not there.
    let number = |reader: &mut BufReader<TcpStream>| -> i64 {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line.trim()[1..].parse().unwrap()
    };
    let count = number(&mut reader).max(0);
    let value = |_| {
        let mut bytes = vec![0; number(&mut reader) as usize + 2];
        reader.read_exact(&mut bytes).unwrap();
        bytes.truncate(bytes.len() - 2);
        bytes
    };
    (0..count).map(value).collect()
}

/// Takes until there are so many.
#[track_caller]
pub(crate) fn records(server: &Server, count: usize) -> Vec<Vec<u8>> {
    records_of(server, LIST, count)
}

#[track_caller]
fn records_of(server: &Server, list: &str, count: usize) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    eventually("the records are in the list", || {
        records.extend(taken(server, list));
        records.len() >= count
    });
    assert_eq!(records.len(), count);
    records
}

pub(crate) fn decoded(bytes: &[u8]) -> Value {
    let mut rest = bytes;
    let value = rmpv::decode::read_value(&mut rest).unwrap();
    assert!(rest.is_empty(), "one record and nothing behind it");
    value
}

pub(crate) fn member<'v>(record: &'v Value, name: &str) -> &'v Value {
    let members = record.as_map().unwrap();
    &members.iter().find(|(key, _)| key.as_str() == Some(name)).expect(name).1
}

/// Records by what became of them: recorded, and at the sink written, dropped and failed.
fn counts(gateway: &Gateway) -> [u64; 4] {
    let samples = scrape(gateway);
    let of = |name: &str| samples.get(name).copied().unwrap_or_default() as u64;
    let sink = |result: &str| of(&format!("tollgate_sink_records_total{{sink=\"redis\",result=\"{result}\"}}"));
    [of("tollgate_records_total"), sink("written"), sink("dropped"), sink("failed")]
}

/// The counts, once all that was recorded has an end.
#[track_caller]
fn settled(gateway: &Gateway, requests: u64) -> [u64; 4] {
    let mut last = [0; 4];
    eventually("every record has an end", || {
        last = counts(gateway);
        last[0] == requests && last[0] == last[1..].iter().sum::<u64>()
    });
    last
}

#[test]
fn records_go_into_the_list_that_tyks_pump_empties() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    // The Redis of the keys serves, as in Tyk.
    let storage = json!({"type": "redis", "host": "127.0.0.1", "port": server.port});
    // Records of one thread stand in order.
    let conf = json!({"enable_analytics": true, "storage": storage, "tollgate": {"threads": 1}});
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream)]);
    gateway.get("/shop/first");
    gateway.get("/shop/second");
    let records: Vec<Value> = records(&server, 2).iter().map(|bytes| decoded(bytes)).collect();
    let paths: Vec<_> = records.iter().map(|record| member(record, "Path").as_str().unwrap()).collect();
    assert_eq!(paths, ["/first", "/second"]);
    assert_eq!(member(&records[0], "APIID").as_str(), Some("shop"));
    assert_eq!(member(&records[0], "ResponseCode").as_i64(), Some(200));
    assert_eq!(member(&records[0], "TimeStamp").as_array().map(Vec::len), Some(2));
    gateway.get("/shop/third");
    eventually("the list will be gone by itself", || {
        let left: i64 = server.cli(&["PTTL", LIST]).parse().unwrap();
        (1..=60_000).contains(&left)
    });
}

/// Reads records with a decoder that is not ours and knows nothing of them.
const READER: &str = "
import json, msgpack
print(json.dumps([msgpack.unpackb(bytes.fromhex(record), raw=False) for record in RECORDS.split()]))
";

/// What a script of another language makes of records.
fn read_by(reader: &str, records: &[Vec<u8>]) -> Option<serde_json::Value> {
    let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let records: Vec<String> = records.iter().map(hex).collect();
    python(&format!("RECORDS = '{}'\n{reader}", records.join(" ")))
}

#[test]
fn another_decoder_reads_in_a_record_what_was_requested() {
    let (server, upstream) = (Server::start(&[]), Upstream::start(|_| ok()));
    let mut conf = recording_to(server.port);
    let normalise = json!({"enabled": true, "normalise_numbers": true});
    conf["analytics_config"] = json!({"normalise_urls": normalise, "ignored_ips": ["192.0.2.9"], "storage_expiration_time": 3600});
    conf["tollgate"]["trusted_proxies"] = json!(["127.0.0.0/8"]);
    let definition = tracked("shop", "/shop/", &upstream)
        .with_keys()
        .set("name", "The Shöp")
        .set("tag_headers", json!(["X-Tag"]))
        .set("expire_analytics_after", 3600)
        .set("enable_detailed_recording", true);
    let gateway = Gateway::start(conf, [definition]);
    make_key(&gateway, "shop");
    let key = format!("Authorization: {KEY}");
    let lines = [key.as_str(), "User-Agent: tester/1.0", "X-Tag: tv", "X-Real-IP: 192.0.2.1"];
    assert_eq!(gateway.send(request("PUT", "/shop/item/7?hidden=1", &lines, "12345")).status, 200);
    assert_eq!(gateway.send(request("GET", "/shop/ignored", &[&key, "X-Real-IP: 192.0.2.9"], "")).status, 200);
    assert_eq!(gateway.send(request("GET", "/shop/refused", &["X-Real-IP: 192.0.2.2"], "")).status, 401);
    eventually("the list expires as configured", || (61..=3600).contains(&server.cli(&["TTL", LIST]).parse::<i64>().unwrap()));

    let Some(records) = read_by(READER, &records(&server, 2)) else { return };
    let record = &records[0];
    let hash = record["APIKey"].as_str().unwrap();
    let expected = json!({
        "Method": "PUT", "Host": upstream.address.to_string(), "Path": "/item/{id}", "RawPath": "/item/7", "ContentLength": 5,
        "UserAgent": "tester/1.0", "ResponseCode": 200, "APIVersion": "Non Versioned", "APIName": "The Shöp", "APIID": "shop",
        "OrgID": "default", "OauthID": "", "IPAddress": "192.0.2.1", "Alias": "the alias", "TrackPath": false, "ApiSchema": "",
        "OriginalPath": "/shop/item/7", "ListenPath": "/shop/", "CollectionName": "",
        "Tags": ["dev-dev7", "gold", "x-tag-tv", format!("key-{hash}"), "org-default", "api-shop"],
        "Geo": {"Country": {"ISOCode": ""}, "City": {"GeoNameID": 0, "Names": null},
            "Location": {"Latitude": 0.0, "Longitude": 0.0, "TimeZone": ""}},
        "GraphQLStats": {"Variables": "", "RootFields": null, "Types": null, "Errors": null, "OperationType": 0, "HasErrors": false,
            "IsGraphQL": false},
        "MCPStats": {"IsMCP": false, "JSONRPCMethod": "", "PrimitiveType": "", "PrimitiveName": ""}
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&record[name], value, "{name}");
    }
    // What differs from run to run.
    let others = "APIKey Day Month Year Hour TimeStamp ExpireAt RequestTime RawRequest RawResponse Network Latency";
    let names: BTreeSet<&str> = expected.as_object().unwrap().keys().map(String::as_str).chain(others.split_whitespace()).collect();
    assert_eq!(record.as_object().unwrap().keys().map(String::as_str).collect::<BTreeSet<_>>(), names);
    assert_eq!(record["Network"]["BytesIn"], 5);
    assert_eq!(record["ExpireAt"][0].as_i64().unwrap() - record["TimeStamp"][0].as_i64().unwrap(), 3600);
    let latency = |name: &str| record["Latency"][name].as_i64().unwrap();
    assert_eq!(
        (latency("Total"), record["RequestTime"].as_i64().unwrap()),
        (latency("Upstream") + latency("Gateway"), latency("Total"))
    );
    assert!(!record["RawRequest"].as_str().unwrap().is_empty() && !record["RawResponse"].as_str().unwrap().is_empty());
    assert_eq!((hash.len(), &records[1]["APIKey"]), (8, &json!("00000000")));
    assert_eq!((&records[1]["ResponseCode"], &records[1]["IPAddress"]), (&json!(401), &json!("192.0.2.2")));
}

/// Reads records of Protocol Buffers with the library of another language, which is told what tyk-pump's `analytics.proto` says.
const PROTOBUF_READER: &str = "
import json
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, timestamp_pb2
MESSAGES = {
    'Latency': 'int64 Total Upstream',
    'Country': 'string ISOCode',
    'City': 'map Names; uint32 GeoNameID',
    'Location': 'double Latitude Longitude; string TimeZone',
    'GeoData': 'Country Country; City City; Location Location',
    'NetworkStats': 'int64 OpenConnections ClosedConnections BytesIn BytesOut',
    'AnalyticsRecord': 'string Host Method Path RawPath; int64 ContentLength; string UserAgent; int32 Day Month Year Hour ResponseCode;'
        'string APIKey; Timestamp TimeStamp; string APIVersion APIName APIID OrgID; int64 RequestTime; Latency Latency;'
        'string RawRequest RawResponse IPAddress; GeoData Geo; NetworkStats Network; list Tags; string Alias; bool TrackPath;'
        'Timestamp ExpireAt; string OauthID TimeZone ApiSchema; skip GraphQLStats MCPStats; string OriginalPath ListenPath',
}
file = descriptor_pb2.FileDescriptorProto(name='records.proto', package='r', syntax='proto3')
file.dependency.append('google/protobuf/timestamp.proto')
Field = descriptor_pb2.FieldDescriptorProto
for name, text in MESSAGES.items():
    message, number = file.message_type.add(name=name), 0
    for part in text.split(';'):
        kind, *names = part.split()
        for field_name in names:
            number += 1
            if kind == 'skip':
                continue
            field = message.field.add(name=field_name, number=number, label=Field.LABEL_OPTIONAL)
            if kind == 'map':
                entry = message.nested_type.add(name=field_name + 'Entry')
                entry.options.map_entry = True
                for part_number, part_name in enumerate(['key', 'value'], 1):
                    entry.field.add(name=part_name, number=part_number, label=Field.LABEL_OPTIONAL, type=Field.TYPE_STRING)
                field.type, field.label, field.type_name = Field.TYPE_MESSAGE, Field.LABEL_REPEATED, f'.r.{name}.{entry.name}'
            elif kind == 'list':
                field.type, field.label = Field.TYPE_STRING, Field.LABEL_REPEATED
            elif kind in MESSAGES or kind == 'Timestamp':
                package = '.google.protobuf.' if kind == 'Timestamp' else '.r.'
                field.type, field.type_name = Field.TYPE_MESSAGE, package + kind
            else:
                field.type = getattr(Field, 'TYPE_' + kind.upper())
pool = descriptor_pool.DescriptorPool()
pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
pool.AddSerializedFile(file.SerializeToString())
Record = message_factory.GetMessageClass(pool.FindMessageTypeByName('r.AnalyticsRecord'))
def read(data):
    record = Record.FromString(data)
    assert all(record.HasField(name) for name in ['TimeStamp', 'ExpireAt', 'Latency', 'Geo', 'Network'])
    assert all(record.Geo.HasField(name) for name in ['Country', 'City', 'Location'])
    record.DiscardUnknownFields()
    assert record.ByteSize() == len(data), 'fields that the pump does not know'
    members = json_format.MessageToDict(record, always_print_fields_with_no_presence=True, preserving_proto_field_name=True)
    members['LivesS'] = record.ExpireAt.seconds - record.TimeStamp.seconds
    return members
print(json.dumps([read(bytes.fromhex(record)) for record in RECORDS.split()]))
";

#[test]
fn another_decoder_reads_records_of_protocol_buffers() {
    let (server, upstream) = (Server::start(&[]), Upstream::start(|_| ok()));
    let mut conf = recording_to(server.port);
    conf["analytics_config"] = json!({"serializer_type": "protobuf"});
    conf["tollgate"]["trusted_proxies"] = json!(["127.0.0.0/8"]);
    let definition = tracked("shop", "/shop/", &upstream)
        .with_keys()
        .set("name", "The Shöp")
        .set("tag_headers", json!(["X-Tag"]))
        .set("expire_analytics_after", 3600);
    let gateway = Gateway::start(conf, [definition]);
    make_key(&gateway, "shop");
    let key = format!("Authorization: {KEY}");
    let lines = [key.as_str(), "User-Agent: tester/1.0", "X-Tag: tv", "X-Real-IP: 192.0.2.1"];
    assert_eq!(gateway.send(request("PUT", "/shop/item/7?hidden=1", &lines, "12345")).status, 200);
    assert_eq!(gateway.send(request("GET", "/shop/refused", &["X-Real-IP: 192.0.2.2"], "")).status, 401);
    let records = records_of(&server, &format!("{LIST}_protobuf"), 2);
    assert_eq!(server.cli(&["EXISTS", LIST]), "0", "there is no other list");
    let Some(records) = read_by(PROTOBUF_READER, &records) else { return };
    let record = &records[0];
    let hash = record["APIKey"].as_str().unwrap();
    let expected = json!({
        "Method": "PUT", "Host": upstream.address.to_string(), "Path": "/item/7", "RawPath": "/item/7", "ContentLength": "5",
        "UserAgent": "tester/1.0", "ResponseCode": 200, "APIVersion": "Non Versioned", "APIName": "The Shöp", "APIID": "shop",
        "OrgID": "default", "OauthID": "", "IPAddress": "192.0.2.1", "Alias": "the alias", "TrackPath": false, "ApiSchema": "",
        "OriginalPath": "/shop/item/7", "ListenPath": "/shop/", "TimeZone": "UTC", "RawRequest": "", "RawResponse": "",
        "Tags": ["dev-dev7", "gold", "x-tag-tv", format!("key-{hash}"), "org-default", "api-shop"], "LivesS": 3600,
        "Geo": {"Country": {"ISOCode": ""}, "City": {"GeoNameID": 0, "Names": {}},
            "Location": {"Latitude": 0.0, "Longitude": 0.0, "TimeZone": ""}}
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&record[name], value, "{name}");
    }
    assert_eq!((&record["Network"]["BytesIn"], hash.len()), (&json!("5"), 8));
    assert_eq!(record["Latency"]["Total"], record["RequestTime"]);
    let date = format!("{}-{:02}-", record["Year"], record["Month"].as_i64().unwrap());
    assert!(record["TimeStamp"].as_str().unwrap().starts_with(&date), "{record}");
    assert_eq!((&records[1]["ResponseCode"], &records[1]["IPAddress"]), (&json!(401), &json!("192.0.2.2")));
}

#[test]
fn a_redis_that_dies_and_comes_back_costs_only_what_is_counted() {
    let (mut server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut conf = recording_to(server.port);
    conf["analytics_config"] = json!({"enable_detailed_recording": true});
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream)]);
    let mut connection = gateway.connect();
    for number in 0..30 {
        assert_eq!(connection.ask(get(&format!("/shop/{number}"))).status, 200);
    }
    assert_eq!(settled(&gateway, 30), [30, 30, 0, 0]);
    assert_eq!(server.cli(&["LLEN", LIST]), "30");

    server.kill();
    for number in 30..60 {
        assert_eq!(connection.ask(get(&format!("/shop/{number}"))).status, 200);
    }
    server.restart();
    // What came meanwhile has waited, and nothing is there twice.
    assert_eq!(settled(&gateway, 60), [60, 60, 0, 0]);
    let paths: Vec<String> =
        taken(&server, LIST).iter().map(|bytes| member(&decoded(bytes), "Path").as_str().unwrap().to_owned()).collect();
    assert_eq!(paths, (30..60).map(|number| format!("/{number}")).collect::<Vec<_>>());

    server.kill();
    // More than may wait: 64 MB, of records with bodies of 64 KB in base64.
    let body = "x".repeat(60_000);
    for _ in 0..1200 {
        assert_eq!(connection.ask(request("POST", "/shop/big", &[], &body)).status, 200);
    }
    eventually("there is no more room", || counts(&gateway)[2] > 0);
    server.restart();
    let [_, written, dropped, failed] = settled(&gateway, 1260);
    assert_eq!((written + dropped, failed), (1260, 0));
    assert!(dropped < 600, "{dropped} records of 1200 had no room");
    assert_eq!(server.cli(&["LLEN", LIST]), (written - 60).to_string());
    assert!(gateway.log().contains("records are lost"), "{}", gateway.log());
}

#[test]
fn a_redis_that_hangs_slows_no_request() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateway = Gateway::start(recording_to(server.port), [tracked("shop", "/shop/", &upstream)]);
    let mut connection = gateway.connect();
    connection.ask(get("/shop/before"));
    settled(&gateway, 1);
    server.signal("STOP");
    // They are answered while Redis answers nothing.
    for number in 0..300 {
        assert_eq!(connection.ask(get(&format!("/shop/{number}"))).status, 200);
    }
    server.signal("CONT");
    let [_, written, dropped, failed] = settled(&gateway, 301);
    assert_eq!(written + dropped + failed, 301);
    // What was sent when it hung may have arrived all the same, and is counted as failed.
    let there: u64 = server.cli(&["LLEN", LIST]).parse().unwrap();
    assert!((written..=written + failed).contains(&there), "{there} in the list, {written} written, {failed} failed");
}

#[test]
fn a_redis_that_is_never_there_does_not_keep_the_gateway_from_starting_and_ending() {
    let upstream = Upstream::ok();
    let mut gateway = Gateway::start(recording_to(free_port()), [tracked("shop", "/shop/", &upstream)]);
    assert_eq!(gateway.get("/shop/").status, 200);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    assert!(gateway.log().contains("records are lost"), "{}", gateway.log());
}

#[test]
fn a_list_that_nobody_empties_ends_growing() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut conf = recording_to(server.port);
    conf["tollgate"]["analytics"]["redis_records_max"] = json!(3);
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream)]);
    for sent in 1..=3 {
        gateway.get("/shop/");
        settled(&gateway, sent);
    }
    gateway.get("/shop/");
    assert_eq!(settled(&gateway, 4), [4, 3, 0, 1]);
    assert_eq!(server.cli(&["LLEN", LIST]), "3");
    assert!(gateway.log().contains(&format!("nobody empties {LIST}: it has 3 records")), "{}", gateway.log());
    taken(&server, LIST);
    gateway.get("/shop/");
    assert_eq!(settled(&gateway, 5), [5, 4, 0, 1]);
}

#[test]
fn a_cluster_has_ten_lists_in_turn() {
    let (cluster, upstream) = (Cluster::start(), Upstream::ok());
    let mut conf = recording_to(0);
    conf["analytics_storage"] =
        json!({"type": "redis", "enable_cluster": true, "addrs": [format!("127.0.0.1:{}", cluster.nodes[0].port)]});
    conf["analytics_config"] = json!({"enable_multiple_analytics_keys": true});
    let gateway = Gateway::start(conf, [tracked("shop", "/shop/", &upstream)]);
    let lists: Vec<String> = (0..10).map(|number| format!("{LIST}_{number}")).collect();
    let length = |list: &String| cluster.nodes[0].cli(&["-c", "LLEN", list]).parse::<u64>().unwrap();
    let mut sent = 0;
    // Each second's records go into the next list.
    eventually("several lists have records", || {
        gateway.get("/shop/");
        sent += 1;
        std::thread::sleep(std::time::Duration::from_millis(300));
        lists.iter().filter(|list| length(list) > 0).count() >= 3
    });
    assert_eq!(settled(&gateway, sent), [sent, sent, 0, 0]);
    assert_eq!(lists.iter().map(length).sum::<u64>(), sent);
    assert_eq!(cluster.nodes[0].cli(&["-c", "LLEN", LIST]), "0");
    assert!(
        lists
            .iter()
            .filter(|list| length(list) > 0)
            .all(|list| { (1..=60).contains(&cluster.nodes[0].cli(&["-c", "TTL", list]).parse::<i64>().unwrap()) })
    );
}
