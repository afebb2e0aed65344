//! Invariants of parameter parsing, for any query and body. The function panics when one is violated. The fuzzer calls it, and so do the
//! tests, with the same corpus.

use crate::oauth::parameters::OauthParameters;
use tollgate_http::form::encode_form;

/// Names that the endpoints read.
const NAMES: [&str; 8] = ["client_id", "client_secret", "password", "code", "state", "scope", "redirect_uri", "key_rules"];

/// Parameters that are written as a form and read again stay the same, and the query's secrets are ignored. The first line of the input is
/// the query, the rest the body.
pub(super) fn oauth_parameters(bytes: &[u8]) {
    let cut = bytes.iter().position(|byte| *byte == b'\n');
    let (query, body) = cut.map_or((bytes, b"".as_slice()), |cut| (&bytes[..cut], &bytes[cut + 1..]));
    let query = std::str::from_utf8(query).ok();
    for content_type in
        [None, Some("application/x-www-form-urlencoded"), Some("Application/JSON; charset=utf-8"), Some("text/plain")]
    {
        let Ok(found) = OauthParameters::read(query, content_type, body) else { continue };
        let alone = OauthParameters::read(None, content_type, body).unwrap_or_else(|_| panic!("a query made the body readable"));
        for secret in ["client_secret", "password"] {
            assert_eq!(found.get(secret), alone.get(secret), "a secret of the query counts");
        }
        let pairs: Vec<String> =
            NAMES.iter().filter_map(|name| Some(format!("{name}={}", encode_form(found.find(name)?)))).collect();
        let again = OauthParameters::read(None, None, pairs.join("&").as_bytes()).unwrap_or_else(|_| panic!("{pairs:?}"));
        for name in NAMES {
            assert_eq!(again.get(name), found.get(name), "{pairs:?}");
        }
    }
}
