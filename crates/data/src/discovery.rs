//! Where clients of a proxy for the Model Context Protocol learn who gives them tokens (RFC 9728, RFC 8414): the paths at which the gateway answers
//! in place of the upstream.

use http::Uri;
use tollgate_mcp_federation::SessionSeal;
use tollgate_model::api::ApiDefinition;
use tollgate_pattern::Glob;
use tollgate_tls::TlsSettings;

/// Before the path of a resource: its metadata.
pub const PROTECTED_RESOURCE: &str = "/.well-known/oauth-protected-resource";
/// Before the path of an authorization server: its metadata.
pub const AUTHORIZATION_SERVER: &str = "/.well-known/oauth-authorization-server";
/// Documents that are at the root of an upstream's host, whatever the path of its URL.
const AT_ROOT: [&str; 3] = [PROTECTED_RESOURCE, AUTHORIZATION_SERVER, "/.well-known/openid-configuration"];
/// Where the authorization servers of upstreams have their front.
const SERVERS: &str = "/__tyk-as/";

/// The paths of an API.
pub struct DiscoveryPaths {
    /// At the root of the gateway: the document of the API, without and with a trailing slash. Empty for an API at `/`.
    pub resource: Vec<String>,
    /// What the gateway asks the upstream for; `None` if the definition says what the document is.
    pub mirrored: Option<MirroredPaths>,
}

/// The paths at which the gateway answers what the upstream says.
pub struct MirroredPaths {
    /// The document below the listen path.
    below: String,
    /// At the root of the gateway: the front of the authorization server.
    front: Vec<(String, &'static str)>,
}

/// What the gateway asks.
pub struct MirroredDiscovery {
    /// The upstream.
    pub upstream: Uri,
    /// The same as it was written: the name of the resource.
    pub upstream_url: String,
    pub tls: TlsSettings,
    /// `None` if the upstream has the documents.
    pub proxy: Option<AuthorizationRules>,
}

/// The gateway is the only client of an identity provider, which takes the place of the upstream.
pub struct AuthorizationRules {
    /// The gateway there.
    pub client_id: String,
    pub client_secret: String,
    pub scopes: Vec<String>,
    pub parameters: Vec<(String, String)>,
    /// Where clients may have users sent back; empty for the user's own machine.
    pub redirect_uris: Vec<RedirectPattern>,
    /// Seals what clients and browsers keep.
    pub seal: SessionSeal,
}

/// Addresses that match a pattern. `*` is any text, but does not reach over the end of a host.
pub struct RedirectPattern {
    origin: Glob,
    rest: Glob,
}

impl RedirectPattern {
    /// Without a path, any path matches.
    pub fn new(pattern: &str) -> Self {
        let (origin, rest) = split_origin(pattern).unwrap_or((pattern, ""));
        RedirectPattern { origin: Glob::new(origin), rest: Glob::new(if rest.is_empty() { "*" } else { rest }) }
    }

    pub fn is_match(&self, uri: &str) -> bool {
        // What is before an `@` only looks like a host.
        let parts = split_origin(uri).filter(|(origin, _)| !origin.contains('@'));
        parts.is_some_and(|(origin, rest)| self.origin.is_match(origin) && self.rest.is_match(rest))
    }
}

/// A URI up to the end of its host and port, and the rest.
fn split_origin(uri: &str) -> Option<(&str, &str)> {
    let authority = uri.find("://")? + 3;
    let end = uri.get(authority..)?.find(['/', '?', '#', '\\']).map_or(uri.len(), |end| authority + end);
    uri.split_at_checked(end)
}

impl DiscoveryPaths {
    /// `None` for other APIs, and without metadata. `listen_path` is the one in effect.
    pub fn of(definition: &ApiDefinition, listen_path: &str) -> Option<Self> {
        let (own, mirrored) = (definition.own_metadata(), definition.mirrored_metadata());
        if !definition.is_mcp() || (own.is_none() && mirrored.is_none()) {
            return None;
        }
        let listen_path = listen_path.trim_end_matches('/');
        let resource = format!("{PROTECTED_RESOURCE}{listen_path}");
        let id = &definition.api_id;
        let mut front = vec![
            (format!("{AUTHORIZATION_SERVER}{SERVERS}{id}"), "server"),
            (format!("{SERVERS}{id}/authorize"), "authorize"),
            (format!("{SERVERS}{id}/token"), "token"),
        ];
        if definition.tollgate.authorization_proxy.is_some() {
            front.push((format!("{SERVERS}{id}/register"), "register"));
            front.push((format!("{SERVERS}{id}/callback"), "callback"));
        }
        let below = |path: &str| format!("{listen_path}/{}", path.trim_matches('/'));
        Some(DiscoveryPaths {
            resource: if listen_path.is_empty() { Vec::new() } else { vec![resource.clone(), resource + "/"] },
            mirrored: mirrored.map(|metadata| MirroredPaths { below: below(metadata.well_known_path()), front }),
        })
    }

    /// The paths that are not below the listen path.
    pub fn at_root(&self) -> impl Iterator<Item = &str> {
        let front = self.mirrored.iter().flat_map(|mirrored| &mirrored.front);
        self.resource.iter().map(String::as_str).chain(front.map(|(path, _)| path.as_str()))
    }

    /// The endpoint that answers a request in place of the upstream.
    #[inline]
    pub fn endpoint(&self, method: &str, path: &str) -> Option<&'static str> {
        let mirrored = self.mirrored.as_ref()?;
        if path == mirrored.below {
            return (method == "GET").then_some("resource");
        }
        if self.resource.iter().any(|own| own == path) {
            return Some("resource");
        }
        mirrored.front.iter().find(|(own, _)| own == path).map(|(_, endpoint)| *endpoint)
    }
}

/// Whether a path is one of a document that is at the root of its host.
pub fn is_at_root(path: &str) -> bool {
    let path = path.strip_prefix('/').unwrap_or(path);
    let is_it = |name: &str| {
        let rest = name.strip_prefix('/').and_then(|name| path.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    AT_ROOT.iter().any(|name| is_it(name))
}

#[cfg(test)]
mod tests;
