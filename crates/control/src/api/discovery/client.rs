//! Clients of the authorization server in front of an identity provider: those that have registered, whose id says all that is known of them, and those
//! whose id is the URL of a document (OAuth Client ID Metadata Document). Anyone can be either; what matters is where they have users sent.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use tollgate_access::oauth::is_inside;

/// Most redirect URIs of a client, and bytes of them, of a name, and of the URL of a document.
const REDIRECTS_MAX: usize = 10;
const REDIRECTS_BYTES_MAX: usize = 2_000;
const NAME_CHARS_MAX: usize = 100;
const URL_BYTES_MAX: usize = 500;

/// A client.
#[derive(Serialize, Deserialize)]
pub(super) struct ClientFacts {
    pub redirect_uris: Vec<String>,
    pub name: String,
    pub issued_unix_s: u64,
}

/// What is wrong with what a client says of itself.
pub(super) enum ClientFault {
    Metadata(&'static str),
    RedirectUri(&'static str),
}

impl fmt::Display for ClientFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ClientFault::Metadata(why) | ClientFault::RedirectUri(why)) = self;
        f.write_str(why)
    }
}

impl ClientFacts {
    /// What a client says of itself when it registers.
    pub(super) fn of_request(asked: &Map<String, Value>, now_unix_s: u64) -> Result<Self, ClientFault> {
        let uris: Option<Vec<String>> = asked
            .get("redirect_uris")
            .and_then(Value::as_array)
            .and_then(|uris| uris.iter().map(|uri| uri.as_str().map(str::to_owned)).collect());
        let Some(redirect_uris) = uris.filter(|uris| !uris.is_empty()) else {
            return Err(ClientFault::RedirectUri("redirect_uris must be a list of URLs"));
        };
        if redirect_uris.len() > REDIRECTS_MAX || redirect_uris.iter().map(String::len).sum::<usize>() > REDIRECTS_BYTES_MAX {
            return Err(ClientFault::RedirectUri("there are too many redirect_uris"));
        }
        let name = asked.get("client_name").and_then(Value::as_str).unwrap_or_default();
        let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
        Ok(ClientFacts { redirect_uris, name, issued_unix_s: now_unix_s })
    }

    /// What the document at a URL says of the client whose id the URL is.
    pub(super) fn of_document(url: &str, document: &[u8]) -> Result<Self, ClientFault> {
        let Ok(Value::Object(said)) = serde_json::from_slice::<Value>(document) else {
            return Err(ClientFault::Metadata("it is no JSON object"));
        };
        if said.get("client_id").and_then(Value::as_str) != Some(url) {
            return Err(ClientFault::Metadata("its client_id is not its URL"));
        }
        // Whoever reads the document would know the secret, and nobody could check another proof here.
        let method = said.get("token_endpoint_auth_method");
        if said.contains_key("client_secret") || method.is_some_and(|method| method != "none") {
            return Err(ClientFault::Metadata("its token_endpoint_auth_method is not \"none\", or it has a client_secret"));
        }
        ClientFacts::of_request(&said, 0)
    }

    /// Whether users may be sent to a URI by what the client has said.
    pub(super) fn has_redirect(&self, uri: &str) -> bool {
        self.redirect_uris.iter().any(|known| is_same_place(known, uri))
    }
}

/// The host of a URL that may be the id of a client: of a document that anyone finds at the same place.
pub(super) fn document_host(id: &str) -> Option<&str> {
    let rest = id.strip_prefix("https://").filter(|_| id.len() <= URL_BYTES_MAX && is_plain_url(id))?;
    let (authority, path) = rest.split_once('/')?;
    let host = authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).map_or(authority, |(host, _)| host);
    (!path.is_empty() && !path.starts_with('?')).then_some(host)
}

/// Whether every program that reads a URL finds the same host and path in it.
pub(super) fn is_plain_url(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let Some((authority, rest)) = rest.split_at_checked(end) else { return false };
    let path = rest.split('?').next().unwrap_or_default();
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    let is_host = !host.is_empty()
        && !host.starts_with('.')
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte));
    url.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\#\"<>^`{|}".contains(&byte))
        && is_host
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && is_inside(path)
}

/// What is before the port of a URL on the user's own machine, and what is behind.
pub(super) fn loopback(uri: &str) -> Option<(&str, &str)> {
    let rest = uri.strip_prefix("http://")?;
    let host = ["127.0.0.1", "[::1]", "localhost"].into_iter().find(|host| rest.starts_with(host))?;
    let behind = rest.get(host.len()..)?;
    let behind = match behind.strip_prefix(':') {
        Some(port) => port.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => behind,
    };
    (behind.is_empty() || behind.starts_with(['/', '?'])).then_some((host, behind))
}

/// Whether a URI is a registered one. Programs on the user's machine take any port (RFC 8252, section 7.3).
fn is_same_place(registered: &str, uri: &str) -> bool {
    registered == uri || loopback(registered).is_some_and(|place| loopback(uri) == Some(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_users_own_machine_is_local() {
        for local in ["http://127.0.0.1/cb", "http://localhost:3000/cb?x=1", "http://[::1]:1", "http://localhost"] {
            assert!(loopback(local).is_some(), "{local}");
        }
        for other in [
            "https://localhost/",
            "http://localhost.evil.example/",
            "http://127.0.0.1.evil.example",
            "http://localhost:1@evil.example/",
            "http://localhost@evil.example/",
            "http://127.0.0.10/",
            "http://evil.example/http://localhost/",
        ] {
            assert!(loopback(other).is_none(), "{other}");
        }
    }

    #[test]
    fn addresses_that_can_be_read_in_two_ways_are_none() {
        for plain in [
            "https://chat.example.com/cb",
            "http://127.0.0.1:80/a/b.c?x=..",
            "http://[::1]:1/",
            "editor://tools/back",
            "http://localhost",
        ] {
            assert!(is_plain_url(plain), "{plain}");
        }
        for other in [
            "https://a.example/cb/../evil",
            "https://a.example/cb/%2E%2e/evil",
            "https://a.example/cb/..%2fevil",
            "https://evil.example:443.a.example/",
            "https://evil.example%2f.a.example/",
            "https://.a.example/",
            "http://127.0.0.1:80.evil.example/",
            "https://a@b.example/",
            "https://a.example/\u{202e}x",
            "https://a.example\\x",
            "javascript:alert(1)",
            "https:///x",
        ] {
            assert!(!is_plain_url(other), "{other}");
        }
    }

    #[test]
    fn only_the_port_may_differ_and_only_there() {
        assert!(is_same_place("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb"));
        for other in ["http://localhost:1/cb", "http://127.0.0.1:1/cb/", "http://127.0.0.1:1/cb?x", "http://127.0.0.1:1x/cb"] {
            assert!(!is_same_place("http://127.0.0.1:1/cb", other), "{other}");
        }
        assert!(!is_same_place("https://a.example:1/cb", "https://a.example:2/cb"));
    }

    #[test]
    fn a_url_that_is_an_id_has_one_host_and_a_path() {
        for (id, host) in [
            ("https://chat.example.com/client.json", Some("chat.example.com")),
            ("https://chat.example.com:8443/a?b=c", Some("chat.example.com")),
            ("https://[::1]:1/a", Some("[::1]")),
            ("https://[::1]/a", Some("[::1]")),
            ("https://chat.example.com/", None),
            ("https://chat.example.com", None),
            ("https://chat.example.com?x", None),
            ("https://chat.example.com/?x", None),
            ("http://chat.example.com/a", None),
            ("https://a@chat.example.com/a", None),
            ("https://chat.example.com/a#b", None),
            ("https://chat.example.com/../a", None),
            ("https://chat.example.com/%2e%2e/a", None),
            ("https:///a", None),
        ] {
            assert_eq!(document_host(id), host, "{id}");
        }
        assert_eq!(document_host(&format!("https://a.example/{}", "x".repeat(URL_BYTES_MAX))), None);
    }

    #[test]
    fn a_document_speaks_for_its_own_url_and_has_no_secret() {
        const URL: &str = "https://a.example/client";
        let of = |document: Value| ClientFacts::of_document(URL, document.to_string().as_bytes());
        let good = json!({"client_id": URL, "client_name": "A\u{7}b", "redirect_uris": ["http://127.0.0.1:1/cb"]});
        let facts = of(good.clone()).ok().unwrap();
        assert_eq!((facts.name.as_str(), facts.has_redirect("http://127.0.0.1:9/cb")), ("Ab", true));
        assert!(!facts.has_redirect("http://127.0.0.1:1/cb/x") && !facts.has_redirect("https://a.example/"));
        let with = |member: &str, value: Value| {
            let mut document = good.clone();
            document[member] = value;
            document
        };
        assert!(of(with("token_endpoint_auth_method", json!("none"))).is_ok());
        for (document, why) in [
            (json!([]), "no JSON object"),
            (json!("x"), "no JSON object"),
            (with("client_id", json!("https://b.example/client")), "not its URL"),
            (with("client_id", json!("https://A.example/client")), "not its URL"),
            (with("client_id", Value::Null), "not its URL"),
            (with("client_secret", json!("x")), "client_secret"),
            (with("token_endpoint_auth_method", json!("client_secret_basic")), "token_endpoint_auth_method"),
            (with("token_endpoint_auth_method", json!("private_key_jwt")), "token_endpoint_auth_method"),
            (with("redirect_uris", json!([])), "list of URLs"),
            (with("redirect_uris", json!(["http://localhost/", 1])), "list of URLs"),
            (with("redirect_uris", json!(vec!["http://localhost/"; 11])), "too many"),
        ] {
            let told = of(document.clone()).err().map(|fault| fault.to_string()).unwrap_or_default();
            assert!(told.contains(why), "{document}: {told}");
        }
        assert!(ClientFacts::of_document(URL, b"{").is_err());
    }
}
