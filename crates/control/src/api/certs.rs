//! `/tyk/certs`: certificates, public keys and private keys; private keys are never returned. A change is in effect when the
//! response is sent.

use super::Control;
use super::answer::{ControlAnswer, Done, Error, Success, error, message, ok};
use super::examples;
use super::failures::ChangeNotStored;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_access::certificates::{self, CertificateInfo, CertificateRejection, CertificateSummary};
use tollgate_clock::unix_s;
use utoipa::{IntoParams, ToSchema};

/// A new certificate.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CertificateAdded {
    /// Organisation and SHA-256 of the certificate.
    id: String,
    #[schema(inline)]
    status: Done,
    message: &'static str,
}

/// The certificates.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CertificateList {
    #[schema(required)]
    certs: Option<Vec<ListedCertificate>>,
}

/// A certificate in a list: its id, or a summary with `mode=detailed`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum ListedCertificate {
    Id(String),
    Summary(CertificateSummary),
}

/// Details of one certificate, or a list with null for unknown ones.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum CertificateDetails {
    One(Box<CertificateInfo>),
    Several(Vec<Option<CertificateInfo>>),
}

/// The certificates in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct CertificateIds {
    /// Ids of certificates, separated by commas.
    #[param(example = "default6f120e00ad7198b6ea39849d58a15058320def88116fd76a67713f44816ef027", min_length = 1)]
    pub id: String,
}

type CertQuery = Query<HashMap<String, String>>;

/// Ids of certificates, or a summary of each
#[utoipa::path(
    get, path = "/tyk/certs", tag = "Certificates", operation_id = "listCertificates",
    security(("secret" = ["viewer", "scope:closed"])),
    params(
        ("org_id" = Option<String>, Query, description = "The organisation, which the id begins with; at most 256 bytes, no comma, slash or control character.", example = "default"),
        ("mode" = Option<String>, Query, description = "`detailed`: a line about each.", example = "detailed"),
    ),
    responses(
        (status = 200, body = CertificateList, description = "The list, sorted by id; null if it is empty."),
    )
)]
pub(super) async fn list(State(control): State<Arc<Control>>, Query(query): CertQuery) -> ControlAnswer {
    let certificates = &control.shared.certificates;
    if let Err(fault) = certificates.look_at_all().await {
        tracing::warn!(%fault, "certificates of other gateways may be missing in a list");
    }
    let ids = certificates.ids(query.get("org_id").map_or("", String::as_str));
    let certs: Vec<ListedCertificate> = if query.get("mode").is_some_and(|mode| mode == "detailed") {
        let summaries = ids.iter().filter_map(|id| Some(certificates::summary(id, &*certificates.get(id)?)));
        summaries.map(ListedCertificate::Summary).collect()
    } else if ids.is_empty() {
        return ok(CertificateList { certs: None });
    } else {
        ids.into_iter().map(ListedCertificate::Id).collect()
    };
    ok(CertificateList { certs: Some(certs) })
}

/// Add a certificate
#[utoipa::path(
    post, path = "/tyk/certs", tag = "Certificates", operation_id = "addCertificate",
    security(("secret" = ["editor", "scope:closed"])),
    params(
        ("org_id" = Option<String>, Query, description = "The organisation, which the id begins with; at most 256 bytes, no comma, slash or control character.", example = "default"),
    ),
    request_body(content = String, content_type = "text/plain", example = json!(examples::CERTIFICATE)),
    responses(
        (status = 200, body = CertificateAdded, description = "The certificate is stored."),
        (status = 403, body = Error, description = "The body is not a certificate; or it has expired, exists already, or has the private key of another one; or the secret of the request is wrong."),
        ChangeNotStored,
    )
)]
pub(super) async fn add(State(control): State<Arc<Control>>, Query(query): CertQuery, body: Bytes) -> ControlAnswer {
    let org = query.get("org_id").map_or("", String::as_str);
    match control.shared.certificates.add(org, &body, unix_s()).await {
        Ok(id) => {
            control.shared.refresh_certificates();
            ok(CertificateAdded { id: id.clone(), status: Done::Ok, message: "Certificate added" }).logged(
                "create",
                "certificate",
                id,
            )
        }
        Err(CertificateRejection::Bad(reason)) => error(StatusCode::FORBIDDEN, reason),
        Err(CertificateRejection::Store(fault)) => {
            tracing::error!(%fault, "a certificate can't be stored");
            error(StatusCode::INTERNAL_SERVER_ERROR, "the certificate can't be stored")
        }
    }
}

/// Same as `POST /tyk/certs`
///
/// The id in the path has no effect, as in Tyk.
#[utoipa::path(
    post, path = "/tyk/certs/{id}", tag = "Certificates", operation_id = "addCertificateAt",
    security(("secret" = ["editor", "scope:closed"])),
    params(
        CertificateIds,
        ("org_id" = Option<String>, Query, description = "The organisation, which the id begins with; at most 256 bytes, no comma, slash or control character.", example = "other"),
    ),
    request_body(content = String, content_type = "text/plain", example = json!(examples::CERTIFICATE)),
    responses(
        (status = 200, body = CertificateAdded, description = "The certificate is stored."),
        (status = 403, body = Error, description = "The body is not a certificate; or it has expired, exists already, or has the private key of another one; or the secret of the request is wrong."),
        ChangeNotStored,
    )
)]
pub(super) async fn add_at(state: State<Arc<Control>>, query: CertQuery, body: Bytes) -> ControlAnswer {
    add(state, query, body).await
}

/// Details of certificates
#[utoipa::path(
    get, path = "/tyk/certs/{id}", tag = "Certificates", operation_id = "getCertificate",
    security(("secret" = ["viewer", "scope:closed"])),
    params(CertificateIds),
    responses(
        (status = 200, body = CertificateDetails, description = "The certificate; for several ids a list, with null for unknown ones."),
        (status = 404, body = Error, description = "No such certificate."),
    )
)]
pub(super) async fn show(
    State(control): State<Arc<Control>>,
    Path(CertificateIds { id: ids }): Path<CertificateIds>,
) -> ControlAnswer {
    let certificates = &control.shared.certificates;
    for id in ids.split(',') {
        if let Err(fault) = certificates.look_at(id).await {
            tracing::warn!(%fault, id, "a certificate can't be looked up");
            break;
        }
    }
    let details = |id: &str| certificates.get(id).map(|certificate| certificates::details(id, &certificate));
    if ids.contains(',') {
        return ok(CertificateDetails::Several(ids.split(',').map(details).collect()));
    }
    match details(&ids) {
        Some(details) => ok(CertificateDetails::One(Box::new(details))),
        None => error(StatusCode::NOT_FOUND, "Certificate with given SHA256 fingerprint not found"),
    }
}

/// Remove a certificate
#[utoipa::path(
    delete, path = "/tyk/certs/{id}", tag = "Certificates", operation_id = "deleteCertificate",
    security(("secret" = ["editor", "scope:closed"])),
    params(CertificateIds),
    responses(
        (status = 200, body = Success, description = "The certificate does not exist any more. The answer is the same if it never did."),
        (status = 403, body = Error, description = "The certificate comes from another source, such as a cluster; or the secret of the request is wrong."),
        (status = 500, body = Error, description = "The removal failed."),
    )
)]
pub(super) async fn remove(
    State(control): State<Arc<Control>>,
    Path(CertificateIds { id }): Path<CertificateIds>,
) -> ControlAnswer {
    if control.shared.certificates.is_external(&id) {
        return error(StatusCode::FORBIDDEN, "the certificate comes from another source, where alone it can be changed");
    }
    match control.shared.certificates.remove(&id).await {
        Ok(()) => {
            control.shared.refresh_certificates();
            message("removed").logged("delete", "certificate", id)
        }
        Err(fault) => {
            tracing::error!(%fault, "a certificate can't be removed");
            error(StatusCode::INTERNAL_SERVER_ERROR, "the certificate can't be removed")
        }
    }
}
