//! Calls to services of the operator: who makes records in the DNS, and who says which hosts may have a certificate.

use std::time::Duration;
use tollgate_outbound::{HttpClient, HttpClientSettings};
use tollgate_tls::{Library, TlsRules, client_config};

/// A client for one call. Calls are rare, and bounded in time by their callers.
///
/// # Errors
/// The system has no usable authorities.
pub(crate) fn operators_client() -> Result<HttpClient, String> {
    let tls = client_config(&TlsRules::default(), &Library::default())?;
    Ok(HttpClient::new(tls, HttpClientSettings { http2: false, idle_max: Duration::ZERO, connect_time_max: None }))
}
