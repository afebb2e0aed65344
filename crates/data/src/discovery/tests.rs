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
