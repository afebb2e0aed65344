use super::*;

#[test]
fn documents_at_the_root_of_a_host_are_known_by_their_paths() {
    for (path, is) in [
        ("/.well-known/oauth-protected-resource", true),
        (".well-known/oauth-protected-resource/v1/mcp", true),
        ("/.well-known/oauth-authorization-server/x", true),
        ("/.well-known/openid-configuration", true),
        ("/.well-known/oauth-protected-resource-other", false),
        ("/.well-known/jwks.json", false),
        ("/v1/.well-known/oauth-protected-resource", false),
        ("", false),
    ] {
        assert_eq!(is_at_root(path), is, "{path}");
    }
}

#[test]
fn a_pattern_of_addresses_does_not_reach_beyond_the_host() {
    let is_match = |pattern: &str, uri: &str| RedirectPattern::new(pattern).is_match(uri);
    for (pattern, uri) in [
        ("http://127.0.0.1:*", "http://127.0.0.1:80/any?x"),
        ("https://*.example.com/back", "https://a.example.com/back"),
        ("https://chat.example.com/*", "https://chat.example.com/"),
        ("editor://tools/*", "editor://tools/back"),
    ] {
        assert!(is_match(pattern, uri), "{pattern} {uri}");
    }
    for (pattern, uri) in [
        ("http://127.0.0.1:*", "http://127.0.0.1:1@evil.example/"),
        ("https://*.example.com/back", "https://evil.example/.example.com/back"),
        ("https://*.example.com/back", "https://evil.example\\.example.com/back"),
        ("https://*.example.com/back", "https://evil.example?.example.com/back"),
        ("https://chat.example.com/*", "https://chat.example.com.evil.example/"),
        ("https://chat.example.com/*", "https://chat.example.com"),
        ("*", "javascript:alert(1)"),
    ] {
        assert!(!is_match(pattern, uri), "{pattern} {uri}");
    }
}
