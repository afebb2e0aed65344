use super::Storage;

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
