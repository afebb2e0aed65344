//! What the data path tells the server of a data graph about a request, in a header.

use crate::api_call::CallOrigin;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use tollgate_graphql::GraphqlRights;

/// In which the data path tells what it knows of a request: base64 of JSON.
pub const TOLD_HEADER: &str = "X-Tollgate-Graph-Facts";

/// What the data path tells of a request.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ToldFacts {
    /// Texts of the definition with the values of their variables.
    pub texts: HashMap<String, String>,
    /// What the key may ask for. Matters in WebSockets: single requests have been checked.
    pub rights: GraphqlRights,
    /// Whether nobody may ask for the schema.
    pub is_closed: bool,
    /// Whence requests to other APIs come.
    pub origin: CallOrigin,
}

impl ToldFacts {
    /// The value of the header.
    pub fn to_header(&self) -> String {
        // Texts and numbers always fit JSON. An empty value would be refused.
        STANDARD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    /// What a header says; `None` if it is none of ours.
    pub(super) fn of_header(value: &str) -> Option<Self> {
        serde_json::from_slice(&STANDARD.decode(value).ok()?).ok()
    }
}
