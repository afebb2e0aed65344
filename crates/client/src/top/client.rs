//! The control API client of `top`.

use crate::ask::{GatewayAddress, GatewayConnection, TlsOf};
use serde_json::Value;
use std::time::Duration;
use tollgate_model::json_document;

const TIME_MAX: Duration = Duration::from_secs(10);

/// The address of the control API.
pub(super) struct TopClient {
    connection: GatewayConnection,
    secret: String,
}

impl TopClient {
    pub(super) fn new(address: GatewayAddress, secret: String, tls: TlsOf) -> Result<Self, String> {
        if secret.bytes().any(|byte| byte < 0x20) {
            return Err("the secret holds control characters".to_owned());
        }
        let connection = GatewayConnection::new(address, false, tls, TIME_MAX).map_err(|failure| failure.to_string())?;
        Ok(TopClient { connection, secret })
    }

    /// The JSON of an endpoint; `None` if it does not exist.
    pub(super) fn get(&self, path: &str) -> Result<Option<Value>, String> {
        let answer = self.connection.try_ask("GET", path, Some(&self.secret), None);
        let (status, body) = answer.map_err(|reason| format!("{}: {reason}", self.connection.address()))?;
        match status {
            200 => json_document::from_slice(&body)
                .map(Some)
                .map_err(|error| format!("{path}: not the answer of a control API: {error}")),
            404 => Ok(None),
            401 | 403 => {
                Err("the control API refuses the secret; give it with --secret or TYK_GW_SECRET, or sign in with tollgate login"
                    .to_owned())
            }
            other => Err(format!("{path}: the control API answers {other}")),
        }
    }
}
