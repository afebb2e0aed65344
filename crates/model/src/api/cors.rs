//! Cross-origin resource sharing.

use schemars::JsonSchema;
use serde::Deserialize;

/// `CORS`. Empty lists take the defaults of Tyk's library: any origin, GET, POST and HEAD, the simple headers.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cors {
    /// Switches the rules on.
    pub enable: bool,
    /// Origins that may call; `*` for any, or one `*` inside an entry.
    pub allowed_origins: Vec<String>,
    /// Methods they may use.
    pub allowed_methods: Vec<String>,
    /// Request headers they may send; `*` for any.
    pub allowed_headers: Vec<String>,
    /// Response headers that scripts may read.
    pub exposed_headers: Vec<String>,
    /// Whether cookies and credentials may be sent.
    pub allow_credentials: bool,
    /// Seconds that a browser may remember a preflight answer; 0 leaves the header out.
    pub max_age: i64,
    /// OPTIONS requests go upstream, past every middleware.
    pub options_passthrough: bool,
    /// Log each decision.
    pub debug: bool,
}
