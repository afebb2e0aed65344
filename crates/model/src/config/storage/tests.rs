use super::Storage;
use crate::json_path::JsonPath;
use crate::problem::Findings;

fn storage(text: &str) -> Storage {
    serde_json::from_str(text).unwrap()
}

#[test]
fn any_field_that_is_set_means_redis() {
    for (text, is_redis) in [
        ("{}", false),
        (r#"{"type": "redis"}"#, true),
        (r#"{"type": "embedded", "host": "a"}"#, false),
        (r#"{"host": "a"}"#, true),
        (r#"{"addrs": ["a:1"]}"#, true),
        (r#"{"enable_cluster": false, "port": 0}"#, false),
    ] {
        assert_eq!(storage(text).is_redis(), is_redis, "{text}");
    }
}

#[test]
fn servers_are_named_in_three_ways() {
    for (text, addresses) in [
        (r#"{"type": "redis"}"#, vec![("localhost", 6379)]),
        (r#"{"host": "a"}"#, vec![("a", 6379)]),
        (r#"{"host": "a", "port": 1}"#, vec![("a", 1)]),
        (r#"{"host": "a", "hosts": {"b": "2", "c": "3"}}"#, vec![("b", 2), ("c", 3)]),
        (r#"{"host": "a", "hosts": {"b": "2"}, "addrs": ["d:4", "[::1]:5"]}"#, vec![("d", 4), ("::1", 5)]),
    ] {
        let expected: Vec<(String, u16)> = addresses.into_iter().map(|(host, port)| (host.to_owned(), port)).collect();
        assert_eq!(storage(text).addresses(), expected, "{text}");
    }
}

#[test]
fn versions_of_tls_are_the_last_two_and_what_can_not_be_is_an_error() {
    for (text, versions, problems) in [
        ("{}", (true, true), 0),
        (r#"{"tls_min_version": "1.2", "tls_max_version": "1.3"}"#, (true, true), 0),
        (r#"{"tls_min_version": "1.3"}"#, (false, true), 0),
        (r#"{"tls_max_version": "1.2"}"#, (true, false), 0),
        (r#"{"tls_min_version": "1.0"}"#, (true, true), 1),
        (r#"{"tls_min_version": "1.3", "tls_max_version": "1.2"}"#, (false, false), 1),
        (r#"{"tls_max_version": "1.1"}"#, (true, false), 1),
        (r#"{"tls_min_version": "tls13"}"#, (true, true), 1),
    ] {
        let storage = storage(text);
        let mut findings = Findings::default();
        storage.check_tls(&JsonPath::root(), &mut findings);
        assert_eq!((storage.tls_versions(), findings.below(&JsonPath::root()).len()), (versions, problems), "{text}");
    }
}
