//! Annotations that say what clients get beside the body: cookies of the gateway, cookies and locations of backends, headers.

use super::snippet;
use super::values::{boolean, number};
use super::{AnnotationRow, Fate, protection, row};
use crate::compile::ingress::report::ReportOutcome;
use crate::compile::ingress::settings::IngressSettings;
use Fate::{Approximated, Carried};
use serde_json::json;

const SNIPPET: &str = "configuration-snippet";
const REDIRECT_FROM: &str = "proxy-redirect-from";

pub(super) const ROWS: &[AnnotationRow] = &[
    row("affinity", Carried, "`cookie`: a client stays with its endpoint", |value, settings| match value {
        "cookie" => {
            settings.is_sticky = true;
            Ok(())
        }
        other => Err(format!("clients can't be kept by {other}")),
    }),
    row("affinity-mode", Approximated, "as `persistent`: clients move only when their endpoint goes", |_, _| Ok(())),
    row("session-cookie-name", Carried, "the name of the cookie; `INGRESSCOOKIE` without it", |value, settings| {
        settings.cookie_name = Some(value.to_owned());
        Ok(())
    }),
    row("session-cookie-max-age", Carried, "how long the cookie is kept", |value, settings| {
        settings.cookie_seconds = number(value)?;
        Ok(())
    }),
    row("session-cookie-expires", Carried, "how long the cookie is kept", |value, settings| {
        settings.cookie_seconds = settings.cookie_seconds.max(number(value)?);
        Ok(())
    }),
    row("session-cookie-path", Carried, "the path of the cookie; `/` without it", |value, settings| {
        if !value.starts_with('/') || value.contains([';', ',', ' ']) {
            return Err(format!("{value:?} is no path"));
        }
        settings.cookie_attributes.insert("path".to_owned(), json!(value));
        Ok(())
    }),
    row("session-cookie-samesite", Carried, "`Strict`, `Lax` or `None`; `Lax` without it", |value, settings| {
        let lower = value.to_ascii_lowercase();
        if !["strict", "lax", "none"].contains(&lower.as_str()) {
            return Err(format!("{value:?} is none of Strict, Lax and None"));
        }
        settings.cookie_attributes.insert("same_site".to_owned(), json!(lower));
        Ok(())
    }),
    row(
        "session-cookie-conditional-samesite-none",
        Approximated,
        "`SameSite=None` is for all browsers: none of today misreads it",
        |_, _| Ok(()),
    ),
    row("session-cookie-secure", Carried, "whether the cookie is sent over TLS alone", |value, settings| {
        settings.cookie_attributes.insert("secure".to_owned(), json!(boolean(value)?));
        Ok(())
    }),
    row("session-cookie-domain", Carried, "the domain of the cookie", |value, settings| {
        if value.is_empty() || value.contains([';', ',', ' ']) {
            return Err(format!("{value:?} is no domain"));
        }
        settings.cookie_attributes.insert("domain".to_owned(), json!(value));
        Ok(())
    }),
    row("session-cookie-change-on-failure", Approximated, "a client whose endpoint fails gets another one", |_, _| Ok(())),
    row(
        "proxy-cookie-path",
        Carried,
        "the start of the path of backends' cookies is replaced; no expressions",
        |value, settings| match two(value) {
            None => Ok(()),
            Some((from, to)) => settings.cookie_path(from, to),
        },
    ),
    row(
        "proxy-cookie-domain",
        Carried,
        "the domain of backends' cookies is replaced; no expressions",
        |value, settings| match two(value) {
            None => Ok(()),
            Some((from, to)) => settings.cookie_domain(from, to),
        },
    ),
    row(
        REDIRECT_FROM,
        Carried,
        "the start of `Location` and `Refresh` of backends that is replaced; no expressions and no variables",
        |value, settings| {
            settings.redirect_from = Some(value.to_owned());
            Ok(())
        },
    ),
    row("proxy-redirect-to", Carried, "what takes its place", |value, settings| {
        settings.redirect_to = Some(value.to_owned());
        Ok(())
    }),
    protection(
        SNIPPET,
        Approximated,
        "headers (`more_set_headers`, `add_header`, `proxy_set_header` and so on, without variables), `return`, `allow` and `deny`, cookies and redirects of backends. Any other directive: 503",
        snippet::read,
    ),
];

/// Resolves what takes two annotations.
pub(super) fn resolve(settings: &mut IngressSettings) {
    let allowed = std::mem::take(&mut settings.allowed_in_snippet);
    match (allowed.is_empty(), settings.allowed.is_empty()) {
        (true, _) => {}
        (false, true) => settings.allowed = allowed,
        (false, false) => settings.close(SNIPPET, "`allow` beside an annotation with addresses is not supported"),
    }
    let from = settings.redirect_from.take().filter(|from| !matches!(from.as_str(), "off" | "default"));
    let Some(from) = from else { return };
    let outcome = match settings.redirect_to.take() {
        Some(to) => settings.location(&from, &to),
        None => Err("proxy-redirect-to is missing".to_owned()),
    };
    if let Err(why) = outcome {
        settings.replace(REDIRECT_FROM, ReportOutcome::NotCarried, &why);
    }
}

/// Two texts with spaces between them; `None` for `off`. The second may have spaces.
fn two(value: &str) -> Option<(&str, &str)> {
    if value == "off" {
        return None;
    }
    let value = value.trim_end_matches(';');
    let (from, to) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    Some((from, to.trim().trim_matches(['"', '\''])))
}
