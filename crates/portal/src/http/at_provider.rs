//! Signing in at a provider of OpenID Connect: sends a browser there, and takes it back. What must be known then is in a cookie of that browser, so any
//! gateway with this portal can answer. Whoever is not let in is told so by the sign-in page.

use super::{address_of, own_pages};
use crate::connections::ProviderEntry;
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use axum::extract::{Path, Request, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use tollgate_console::cookies;
use tollgate_signin::{PendingSignIn, ReturnedAnswer, SignInFault, SignInProvider};

/// Name of the cookie of a sign-in that is under way.
const COOKIE: &str = "tollgate_portal_sign_in";
/// Seconds for a sign-in: people look for their second factor.
const SIGN_IN_S_MAX: u64 = 600;

/// Sends a browser to a provider.
pub(super) async fn start(State(portal): State<Arc<Portal>>, Path(name): Path<String>) -> Response {
    let Some(provider) = found(&portal, &name) else { return to("#/sign-in?refused=not_found") };
    match provider.begin().await {
        Ok((url, pending)) => {
            let cookie = pending_cookie(&portal, &pending.kept(), SIGN_IN_S_MAX);
            (StatusCode::SEE_OTHER, [(LOCATION, url), (SET_COOKIE, cookie)]).into_response()
        }
        Err(why) => {
            tracing::warn!(provider = name, %why, "developers can't sign in at a provider");
            to("#/sign-in?refused=unreachable")
        }
    }
}

/// Takes a browser back from a provider, and starts a session.
pub(super) async fn finish(State(portal): State<Arc<Portal>>, Path(name): Path<String>, request: Request) -> Response {
    let Some(provider) = found(&portal, &name) else { return to("#/sign-in?refused=not_found") };
    let address = address_of(&request);
    let kept = cookies(request.headers(), COOKIE).next().and_then(PendingSignIn::of_kept);
    let answer = ReturnedAnswer::of_query(request.uri().query().unwrap_or_default());
    let before = own_pages::session_token(request.headers(), &portal);
    drop(request);
    if portal.sign_ins().admit(address, Portal::now()).is_err() {
        return to("#/sign-in?refused=too_many");
    }
    let mut response = match entered(&portal, provider, kept, &answer).await {
        Ok(entry) => {
            portal.sign_ins().right(address);
            // Nobody else may have known the session that the browser had before.
            if let Some(before) = before {
                let _ = crate::sessions::end(&portal.documents, &before).await;
            }
            match entry {
                ProviderEntry::Session(token) => with_cookie(to(""), &own_pages::cookie(&token, &portal)),
                ProviderEntry::AsksForPassword(token) => to(&format!("#/connect/{token}")),
            }
        }
        Err(refusal) => {
            if refusal.status >= 500 {
                portal.sign_ins().unchecked(address);
            }
            to(&format!("#/sign-in?refused={}", refusal.cause))
        }
    };
    if let Ok(gone) = HeaderValue::from_str(&pending_cookie(&portal, "", 0)) {
        response.headers_mut().append(SET_COOKIE, gone);
    }
    response
}

async fn entered(
    portal: &Portal,
    provider: &SignInProvider,
    kept: Option<PendingSignIn>,
    answer: &ReturnedAnswer,
) -> Result<ProviderEntry, PortalRefusal> {
    let refused = |why: &str| {
        tracing::warn!(provider = provider.party().provider, why, "a developer's sign-in at a provider failed");
        PortalRefusal::new(403, "refused", "The provider's answer is no proof of who you are")
    };
    let pending = kept.ok_or_else(|| refused("this browser began no sign-in"))?;
    if !portal.documents.is_first_use("state", pending.state(), Portal::now() + SIGN_IN_S_MAX).await? {
        return Err(refused("this sign-in was ended before"));
    }
    match provider.finish(&pending, answer).await {
        Ok(identity) => portal.enter_at_provider(&provider.party().issuer, &identity).await,
        Err(SignInFault::Refused(why)) => Err(refused(&why)),
        Err(SignInFault::Unreachable(why)) => {
            tracing::warn!(provider = provider.party().provider, why, "a developer's sign-in at a provider can't be checked");
            Err(PortalRefusal::new(502, "unreachable", "The provider can't be asked at the moment"))
        }
    }
}

fn found<'p>(portal: &'p Portal, name: &str) -> Option<&'p SignInProvider> {
    portal.providers.iter().find(|provider| provider.party().provider == name)
}

/// Sends a browser to a place of the portal.
fn to(place: &str) -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, format!("/{place}"))]).into_response()
}

fn with_cookie(mut response: Response, line: &str) -> Response {
    if let Ok(line) = HeaderValue::from_str(line) {
        response.headers_mut().append(SET_COOKIE, line);
    }
    response
}

/// The cookie comes back with a navigation from the provider's page, so it can't be strict.
fn pending_cookie(portal: &Portal, value: &str, age_s_max: u64) -> String {
    let secure = if portal.settings.url.starts_with("https://") { "; Secure" } else { "" };
    format!("{COOKIE}={value}; Path=/sign-in/; HttpOnly; SameSite=Lax; Max-Age={age_s_max}{secure}")
}
