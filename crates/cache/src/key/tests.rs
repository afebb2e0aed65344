use super::{CacheKey, KeyParts};

const PLAIN: KeyParts<'static> = KeyParts { origin: b"v1", host: None, target: b"/a/b?x=1&y=2", caller: None, headers: &[] };

fn key(parts: KeyParts<'_>) -> CacheKey {
    parts.key(&[7; 32], "api")
}

/// Web cache poisoning and deception begin with two requests that share a key although the upstream distinguishes them. Each row is such a
/// request.
#[test]
fn what_an_upstream_may_tell_apart_has_keys_of_its_own() {
    let targets: &[&str] = &[
        "/a/b?x=1&y=2",
        "/A/b?x=1&y=2",
        "/a/b?X=1&y=2",
        "/a/b?y=2&x=1",
        "/a/b?x=1&y=2&",
        "/a/b?x=1;y=2",
        "/a/b?x=1&y=2#",
        "/a/b;v=1?x=1&y=2",
        "/a//b?x=1&y=2",
        "//a/b?x=1&y=2",
        "/a/b/?x=1&y=2",
        "/a/./b?x=1&y=2",
        "/a/c/../b?x=1&y=2",
        "/a%2Fb?x=1&y=2",
        "/a%2fb?x=1&y=2",
        "/%61/b?x=1&y=2",
        "/a/b%3Fx=1&y=2",
        "/a\\b?x=1&y=2",
        "/a/b?x=%31&y=2",
        "/a/b?x=1+&y=2",
        "/a/b?x=1%20&y=2",
        "/a/b?",
        "/a/b",
        "/a/b%00?x=1&y=2",
        "/a/b.css?x=1&y=2",
        "/a/b/x.css?x=1&y=2",
        "/a/b;.css?x=1&y=2",
        "/a/b%0A.css?x=1&y=2",
    ];
    let mut keys: Vec<(String, CacheKey)> =
        targets.iter().map(|target| (target.to_string(), key(KeyParts { target: target.as_bytes(), ..PLAIN }))).collect();
    let others: &[(&str, KeyParts<'_>)] = &[
        ("origin", KeyParts { origin: b"v2", ..PLAIN }),
        ("empty host", KeyParts { host: Some(b""), ..PLAIN }),
        ("host", KeyParts { host: Some(b"a.example"), ..PLAIN }),
        ("host with port", KeyParts { host: Some(b"a.example:80"), ..PLAIN }),
        ("host and target shifted", KeyParts { host: Some(b"a.example/a"), target: b"/b?x=1&y=2", ..PLAIN }),
        ("caller", KeyParts { caller: Some(b"k"), ..PLAIN }),
        ("empty caller", KeyParts { caller: Some(b""), ..PLAIN }),
        ("caller as part of the target", KeyParts { target: b"/a/b?x=1&y=2k", ..PLAIN }),
        ("header", KeyParts { headers: &[Some(b"k")], ..PLAIN }),
        ("absent header", KeyParts { headers: &[None], ..PLAIN }),
        ("empty header", KeyParts { headers: &[Some(b"")], ..PLAIN }),
        ("two headers", KeyParts { headers: &[Some(b"k"), None], ..PLAIN }),
        ("two headers, the other way", KeyParts { headers: &[None, Some(b"k")], ..PLAIN }),
        ("two headers, cut elsewhere", KeyParts { headers: &[Some(b"a"), Some(b"bc")], ..PLAIN }),
        ("two headers, cut here", KeyParts { headers: &[Some(b"ab"), Some(b"c")], ..PLAIN }),
    ];
    keys.extend(others.iter().map(|(name, parts)| (name.to_string(), key(*parts))));
    keys.push(("another API".into(), PLAIN.key(&[7; 32], "api2")));
    for (at, (name, one)) in keys.iter().enumerate() {
        for (other_name, other) in &keys[at + 1..] {
            assert_ne!(one, other, "{name} and {other_name} share a key");
        }
    }
}

#[test]
fn the_same_request_has_the_same_key_and_another_gateway_another_one() {
    assert_eq!(key(PLAIN), key(PLAIN));
    assert_ne!(key(PLAIN), PLAIN.key(&[8; 32], "api"));
}
