//! `/tyk/certs`: certificates, public keys and private keys, which are never shown again. A change is in effect when the answer comes.

use super::Control;
use super::answer::{Answer, error, message};
use crate::auth::certificates::{self, Rejection};
use crate::base::clock::unix_s;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

type Parameters = Query<HashMap<String, String>>;

/// The ids, or a line about each certificate with `mode=detailed`.
pub async fn list(State(control): State<Arc<Control>>, Query(query): Parameters) -> Answer {
    let certificates = &control.shared.certificates;
    let ids = certificates.ids(query.get("org_id").map_or("", String::as_str));
    let shown: Vec<Value> = if query.get("mode").is_some_and(|mode| mode == "detailed") {
        ids.iter().filter_map(|id| Some(certificates::basics(id, &*certificates.get(id)?))).collect()
    } else if ids.is_empty() {
        return Answer(StatusCode::OK, json!({ "certs": null }));
    } else {
        ids.into_iter().map(Value::String).collect()
    };
    Answer(StatusCode::OK, json!({ "certs": shown }))
}

/// Adds what the PEM text in the body says.
pub async fn add(State(control): State<Arc<Control>>, Query(query): Parameters, body: Bytes) -> Answer {
    let org = query.get("org_id").map_or("", String::as_str);
    match control.shared.certificates.add(org, &body, unix_s()).await {
        Ok(id) => {
            control.shared.refresh_certificates();
            Answer(StatusCode::OK, json!({ "id": id, "status": "ok", "message": "Certificate added" }))
        }
        Err(Rejection::Bad(reason)) => error(StatusCode::FORBIDDEN, reason),
        Err(Rejection::Store(fault)) => {
            tracing::error!(%fault, "a certificate can't be stored");
            error(StatusCode::INTERNAL_SERVER_ERROR, "the certificate can't be stored")
        }
    }
}

/// What one certificate says, or a list of them when the ids of several are given, with null for the unknown ones.
pub async fn show(State(control): State<Arc<Control>>, Path(ids): Path<String>) -> Answer {
    let certificates = &control.shared.certificates;
    let details = |id: &str| certificates.get(id).map(|certificate| certificates::details(id, &certificate));
    if ids.contains(',') {
        let shown: Vec<Value> = ids.split(',').map(|id| details(id).unwrap_or(Value::Null)).collect();
        return Answer(StatusCode::OK, shown.into());
    }
    match details(&ids) {
        Some(details) => Answer(StatusCode::OK, details),
        None => error(StatusCode::NOT_FOUND, "Certificate with given SHA256 fingerprint not found"),
    }
}

/// Removes a certificate; like Tyk, also one that is not there.
pub async fn remove(State(control): State<Arc<Control>>, Path(id): Path<String>) -> Answer {
    match control.shared.certificates.remove(&id).await {
        Ok(()) => {
            control.shared.refresh_certificates();
            message("removed")
        }
        Err(fault) => {
            tracing::error!(%fault, "a certificate can't be removed");
            error(StatusCode::INTERNAL_SERVER_ERROR, "the certificate can't be removed")
        }
    }
}
