use super::*;

/// The command as the library packs it.
fn packed(key: &str, values: &[String]) -> Vec<u8> {
    redis::cmd("RPUSH").arg(key).arg(values).get_packed_command()
}

#[test]
fn a_command_is_what_the_library_would_send() {
    let lengths = [0, 1, 9, 10, 99, 100, 999, 1_000, 1_001, 9_999, 10_000, 123_456];
    let values: Vec<String> = lengths.into_iter().map(|length| "v".repeat(length)).collect();
    let mut own: Values = values.iter().collect();
    assert_eq!((own.len(), own.bytes()), (values.len(), lengths.iter().sum()));
    let long = "k".repeat(200);
    for key in ["key", "", long.as_str(), "another"] {
        assert_eq!(own.command("RPUSH", key), packed(key, &values), "{key}");
    }
}

#[test]
fn memory_is_used_again() {
    let mut own: Values = ["one", "two"].into_iter().collect();
    own.clear();
    assert!(own.is_empty());
    own.push(|out| out.extend_from_slice(b"three"));
    assert_eq!(own.command("RPUSH", "key"), packed("key", &["three".to_owned()]));
    assert_eq!((own.len(), own.bytes()), (1, 5));
}
