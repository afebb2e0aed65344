//! Where clients are: a MaxMind database that the test writes, and what happens without one.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::analytics::{records, tracked};
use crate::harness::{Gateway, Upstream, eventually, request};

/// A MaxMind database, written as its specification says: a binary tree over the bits of IPv6 addresses, in which IPv4 has the networks
/// below `::/96`, then the data that the tree's leaves point to, then what describes all that.
struct Database {
    /// Both children of each node.
    nodes: Vec<[Child; 2]>,
    data: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Child {
    Nowhere,
    Node(usize),
    /// Where in the data.
    Data(usize),
}

impl Database {
    fn new() -> Database {
        Database { nodes: vec![[Child::Nowhere; 2]], data: Vec::new() }
    }

    /// Adds a network with what is known of it.
    fn add(mut self, network: &str, value: &Value) -> Database {
        let (address, length) = network.split_once('/').unwrap();
        let length: u32 = length.parse().unwrap();
        let (bits, length) = match address.parse().unwrap() {
            IpAddr::V4(v4) => (u128::from(u32::from(v4)), 96 + length),
            IpAddr::V6(v6) => (u128::from(v6), length),
        };
        let mut at = 0;
        for depth in 0..length {
            let side = (bits >> (127 - depth) & 1) as usize;
            if depth + 1 == length {
                self.nodes[at][side] = Child::Data(self.data.len());
            } else if let Child::Node(next) = self.nodes[at][side] {
                at = next;
            } else {
                self.nodes.push([Child::Nowhere; 2]);
                self.nodes[at][side] = Child::Node(self.nodes.len() - 1);
                at = self.nodes.len() - 1;
            }
        }
        write_value(&mut self.data, value);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let count = self.nodes.len();
        let number = |child: &Child| match child {
            Child::Nowhere => count,
            Child::Node(index) => *index,
            // The data begins behind sixteen zeros.
            Child::Data(offset) => count + 16 + offset,
        };
        let mut bytes = Vec::new();
        for child in self.nodes.iter().flatten() {
            bytes.extend(&(number(child) as u32).to_be_bytes()[1..]);
        }
        bytes.extend([0; 16]);
        bytes.extend(&self.data);
        bytes.extend(b"\xab\xcd\xefMaxMind.com");
        bytes.push(7 << 5 | 9);
        let numbers = [
            ("binary_format_major_version", 5, 2, 2),
            ("binary_format_minor_version", 5, 2, 0),
            ("ip_version", 5, 2, 6),
            ("record_size", 5, 2, 24),
            ("node_count", 6, 4, count),
            ("build_epoch", 9, 8, 1_790_000_000),
        ];
        for (name, kind, length, number) in numbers {
            write_value(&mut bytes, &json!(name));
            write_control(&mut bytes, kind, length);
            bytes.extend(&(number as u64).to_be_bytes()[8 - length..]);
        }
        let rest = [("database_type", json!("Test-City")), ("description", json!({"en": "a test"})), ("languages", json!(["en"]))];
        for (name, value) in rest {
            write_value(&mut bytes, &json!(name));
            write_value(&mut bytes, &value);
        }
        bytes
    }
}

/// What a value begins with. A type beyond seven has a byte of its own; a size beyond 28 too.
fn write_control(out: &mut Vec<u8>, kind: u8, size: usize) {
    let (first, second) = if kind > 7 { (0, Some(kind - 7)) } else { (kind << 5, None) };
    let (short, long) = if size < 29 { (size as u8, None) } else { (29, Some((size - 29) as u8)) };
    out.push(first | short);
    out.extend(second.into_iter().chain(long));
}

fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::String(text) => {
            write_control(out, 2, text.len());
            out.extend(text.as_bytes());
        }
        Value::Number(number) if number.is_f64() => {
            write_control(out, 3, 8);
            out.extend(number.as_f64().unwrap().to_be_bytes());
        }
        Value::Number(number) => {
            write_control(out, 6, 4);
            out.extend((number.as_u64().unwrap() as u32).to_be_bytes());
        }
        Value::Object(members) => {
            write_control(out, 7, members.len());
            for (name, value) in members {
                write_value(out, &json!(name));
                write_value(out, value);
            }
        }
        Value::Array(values) => {
            write_control(out, 11, values.len());
            values.iter().for_each(|value| write_value(out, value));
        }
        other => panic!("{other}"),
    }
}

/// Settings with a database, and with clients that say where they are.
fn conf(directory: &tempfile::TempDir, database: &std::path::Path) -> Value {
    json!({
        "enable_analytics": true,
        "analytics_config": {"enable_geo_ip": true, "geo_ip_db_path": database},
        "tollgate": {
            "threads": 1,
            "trusted_proxies": ["127.0.0.0/8"],
            "analytics": {"usage": false, "file": directory.path().join("records.json")}
        }
    })
}

fn ask_from(gateway: &Gateway, address: &str) {
    assert_eq!(gateway.send(request("GET", "/shop/", &[&format!("X-Real-IP: {address}")], "")).status, 200);
}

#[test]
fn records_say_where_clients_are() {
    let upstream = Upstream::ok();
    let directory = tempfile::tempdir().unwrap();
    let naples = json!({
        "continent": {"code": "EU"}, "country": {"iso_code": "IT", "names": {"en": "Italy"}},
        "city": {"geoname_id": 3_172_394, "names": {"en": "Naples", "it": "Napoli"}},
        "location": {"latitude": 40.85, "longitude": 14.27, "time_zone": "Europe/Rome", "accuracy_radius": 10},
        "a name of more than twenty-eight bytes": ["is", "no", "problem"]
    });
    let only_country = json!({"country": {"iso_code": "JP"}});
    let database = Database::new().add("192.0.2.0/25", &naples).add("2001:db8::/33", &only_country);
    let path = directory.path().join("places.mmdb");
    std::fs::write(&path, database.bytes()).unwrap();
    let gateway = Gateway::start(conf(&directory, &path), [tracked("shop", "/shop/", &upstream)]);
    for address in ["192.0.2.7", "192.0.2.200", "2001:db8::1", "2001:db8:ffff::1"] {
        ask_from(&gateway, address);
    }
    let nowhere = json!({
        "country": {"iso_code": ""}, "city": {"geoname_id": 0, "names": {}},
        "location": {"latitude": 0.0, "longitude": 0.0, "time_zone": ""}
    });
    let records = records(&directory, 4);
    let expected = json!({
        "country": {"iso_code": "IT"}, "city": {"geoname_id": 3_172_394, "names": {"en": "Naples", "it": "Napoli"}},
        "location": {"latitude": 40.85, "longitude": 14.27, "time_zone": "Europe/Rome"}
    });
    assert_eq!(records[0]["geo"], expected);
    assert_eq!(records[1]["geo"], nowhere, "just outside the network");
    assert_eq!(records[2]["geo"]["country"]["iso_code"], "JP");
    assert_eq!(records[2]["geo"]["city"], nowhere["city"]);
    assert_eq!(records[3]["geo"], nowhere);
    assert!(gateway.log().contains("geolocation database loaded"), "{}", gateway.log());
}

#[test]
fn without_a_database_that_can_be_used_the_gateway_runs_and_says_why() {
    let upstream = Upstream::ok();
    let whole = Database::new().add("192.0.2.0/25", &json!({"country": {"iso_code": "IT"}})).bytes();
    let cut = whole[..whole.len() - 40].to_vec();
    // The end of the tree and the data are not there, but what describes them is.
    let about = whole.windows(14).position(|window| window == b"\xab\xcd\xefMaxMind.com").unwrap();
    let hollow = [&whole[..100], &whole[about..]].concat();
    for (what, content) in [("missing", None), ("empty", Some(Vec::new())), ("cut", Some(cut)), ("hollow", Some(hollow))] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("places.mmdb");
        content.iter().for_each(|bytes| std::fs::write(&path, bytes).unwrap());
        let gateway = Gateway::start(conf(&directory, &path), [tracked("shop", "/shop/", &upstream)]);
        ask_from(&gateway, "192.0.2.7");
        assert_eq!(records(&directory, 1)[0]["geo"]["country"]["iso_code"], "", "{what}");
        let named = format!("analytics_config.geo_ip_db_path: {} is not a usable database", path.display());
        eventually("the log says so", || gateway.log().contains(&named));
    }
}
