use super::JsonPath;

#[test]
fn paths_are_written_the_usual_way() {
    let version = JsonPath::of("version_data.versions");
    assert_eq!(JsonPath::root().to_string(), "$");
    assert_eq!(version.key("v1").key("paths").index(2).to_string(), "$.version_data.versions.v1.paths[2]");
    assert_eq!(version.key("1.0").to_string(), r#"$.version_data.versions["1.0"]"#);
    assert_eq!(JsonPath::root().key("a\nb").to_string(), r#"$["a\nb"]"#);
}

#[test]
fn matching_skips_list_positions_and_takes_any_key_for_a_star() {
    let path = JsonPath::of("versions").key("1.0").key("cache").index(0);
    assert!(path.matches("versions.*.cache"));
    assert!(!path.matches("versions.*"));
    assert!(!path.matches("versions.*.cache.x"));
    assert!(!path.matches("versions.2.cache"));
    assert!(path.matches("versions.**"));
    assert!(!path.matches("version.**"));
    assert!(!path.matches("versions.*.cache.**"));
}
