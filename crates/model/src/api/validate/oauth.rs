//! Problems of the rules of the OAuth 2.0 server.

use crate::api::{ApiDefinition, AuthMethod};
use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::target_url_fault;

const GRANT_TYPES: [&str; 4] = ["authorization_code", "refresh_token", "password", "client_credentials"];
const RESPONSE_TYPES: [&str; 2] = ["code", "token"];

/// Adds problems to `findings`.
pub(super) fn check(api: &ApiDefinition, findings: &mut Findings) {
    if !api.is_on(AuthMethod::OAuth) {
        return;
    }
    let meta = &api.oauth_meta;
    let at = JsonPath::of("oauth_meta");
    let types = at.key("allowed_access_types");
    let gives_tokens_at_once = meta.allowed_authorize_types.iter().any(|name| name == "token");
    if meta.allowed_access_types.is_empty() && !gives_tokens_at_once {
        findings.warning(&types, "is empty: no client can get a token at the token endpoint");
    }
    check_names(&types, &meta.allowed_access_types, &GRANT_TYPES, "grant type", findings);
    let types = at.key("allowed_authorize_types");
    let gives_tokens_for_codes = meta.allowed_access_types.iter().any(|name| name == "authorization_code");
    if meta.allowed_authorize_types.is_empty() && gives_tokens_for_codes {
        findings.warning(&types, "is empty: no client can get a code");
    }
    check_names(&types, &meta.allowed_authorize_types, &RESPONSE_TYPES, "response type", findings);
    if !meta.auth_login_redirect.bytes().all(|byte| byte.is_ascii_graphic()) {
        findings.error(&at.key("auth_login_redirect"), "must not contain spaces, control characters or anything but ASCII");
    }
    let url = &api.notifications.oauth_on_keychange_url;
    if let Some(fault) = target_url_fault(url).filter(|_| !url.is_empty()) {
        findings
            .warning(&JsonPath::of("notifications.oauth_on_keychange_url"), format!("{fault}: nobody is notified of new tokens"));
    }
}

fn check_names(at: &JsonPath, names: &[String], known: &[&str], what: &str, findings: &mut Findings) {
    for (index, name) in names.iter().enumerate() {
        if !known.contains(&name.as_str()) {
            findings.warning(&at.index(index), format!("{name:?} is not a {what} that there is: it is refused"));
        }
    }
}
