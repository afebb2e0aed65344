//! Certificates that the gateway gets by itself: what became of each, and what an issuer that looks whose a host is gets to see.

use super::Control;
use super::answer::{ControlAnswer, Error, Success, error, message, ok};
use super::failures::{ChangeNotStored, StoreFailed};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tollgate_acme::{AcmeDocuments, PlannedCertificate};
use tollgate_clock::unix_s;
use utoipa::{IntoParams, ToSchema};

/// The certificates that the gateway gets by itself.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IssuedList {
    #[schema(inline)]
    certificates: Vec<IssuedCertificate>,
}

/// A certificate that the gateway gets by itself. Times are in seconds since 1970.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct IssuedCertificate {
    /// Its hosts, with commas between them.
    name: String,
    #[schema(inline)]
    state: IssuedState,
    /// Its id among the stored certificates; empty before there is one.
    id: String,
    /// Directory of the issuer.
    issuer: String,
    /// When it ends; 0 before there is one.
    ends: u64,
    /// When it is to be renewed.
    renewal: u64,
    /// Tries that failed since the last one that did not.
    failures: u32,
    /// Why the last one failed.
    error: String,
    /// When the next try may be made; 0 if none has failed.
    again: u64,
    /// Whether a client asked for it, and no configuration.
    on_demand: bool,
    /// Until when handshakes hand out that the issuer has not revoked it; 0 without that.
    stapled_until: u64,
    /// Why the issuer did not say so the last time.
    status_error: String,
}

/// How it is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum IssuedState {
    /// There is none yet.
    Wanted,
    /// It is in service.
    Served,
    /// It is in service, and its renewal has failed.
    Failing,
    /// It has ended.
    Ended,
}

impl IssuedCertificate {
    fn new(name: &str, planned: &PlannedCertificate, now: u64) -> Self {
        let state = match (planned.id.is_empty(), planned.ends_unix_s <= now, planned.failures) {
            (true, _, _) => IssuedState::Wanted,
            (false, true, _) => IssuedState::Ended,
            (false, false, 0) => IssuedState::Served,
            (false, false, _) => IssuedState::Failing,
        };
        IssuedCertificate {
            name: name.to_owned(),
            state,
            id: planned.id.clone(),
            issuer: planned.issuer.clone(),
            ends: planned.ends_unix_s,
            renewal: planned.renew_unix_s,
            failures: planned.failures,
            error: planned.error.clone(),
            again: if planned.failures == 0 { 0 } else { planned.again_unix_s },
            on_demand: planned.is_on_demand,
            stapled_until: planned.staple_ends_unix_s,
            status_error: planned.status_error.clone(),
        }
    }
}

fn documents(control: &Control) -> AcmeDocuments {
    AcmeDocuments(control.shared.keys.kept_store())
}

/// Certificates that the gateway gets by itself
///
/// Those of `tollgate.acme` in the configuration, on all gateways with the same store.
#[utoipa::path(
    get, path = "/tyk/acme", tag = "Certificates", operation_id = "listIssuedCertificates",
    security(("secret" = ["viewer", "scope:closed"])),
    responses(
        (status = 200, body = IssuedList, description = "The certificates."),
        StoreFailed,
    )
)]
pub(super) async fn list(State(control): State<Arc<Control>>) -> ControlAnswer {
    let Ok(mut plan) = documents(&control).plan().await else { return silent() };
    for name in &control.issued_names {
        plan.entry(name.clone()).or_default();
    }
    let now = unix_s();
    ok(IssuedList { certificates: plan.iter().map(|(name, planned)| IssuedCertificate::new(name, planned, now)).collect() })
}

/// The certificate in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct IssuedName {
    /// Its hosts, with commas between them.
    #[param(example = "api.example.com", min_length = 1)]
    pub name: String,
}

/// Renew a certificate now
///
/// Whichever gateway looks first asks the issuer, within some seconds; also after a failure, without waiting for the next try.
#[utoipa::path(
    post, path = "/tyk/acme/{name}/renew", tag = "Certificates", operation_id = "renewIssuedCertificate",
    security(("secret" = ["admin", "scope:closed"])),
    params(IssuedName),
    responses(
        (status = 200, body = Success, description = "It is renewed soon."),
        (status = 404, body = Error, description = "There is no such certificate."),
        ChangeNotStored,
    )
)]
pub(super) async fn renew(State(control): State<Arc<Control>>, Path(IssuedName { name }): Path<IssuedName>) -> ControlAnswer {
    match documents(&control).renew_now(&name).await {
        // One that nobody has worked on yet is ordered anyway.
        Ok(is_planned) if is_planned || control.issued_names.contains(&name) => {
            message("renewed soon").logged("renew", "certificate", name)
        }
        Ok(_) => error(StatusCode::NOT_FOUND, "there is no such certificate"),
        Err(_) => silent(),
    }
}

fn silent() -> ControlAnswer {
    error(StatusCode::SERVICE_UNAVAILABLE, "the store does not answer")
}

/// What an issuer gets to see that asks over HTTP.
pub(super) async fn answer(State(control): State<Arc<Control>>, Path(token): Path<String>) -> Response {
    match documents(&control).answer(&token).await {
        Ok(Some(text)) => ([(header::CONTENT_TYPE, "application/octet-stream")], Body::from(text)).into_response(),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
