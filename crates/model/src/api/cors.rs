//! Cross-origin resource sharing.

use schemars::JsonSchema;
use serde::Deserialize;

/// `CORS`. Empty lists take the defaults of Tyk's library: any origin, GET, POST and HEAD, the simple headers.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cors {
    /// Enables the rules.
    pub enable: bool,
    /// Allowed origins; `*` for any, or one `*` inside an entry.
    pub allowed_origins: Vec<String>,
    /// Allowed methods.
    pub allowed_methods: Vec<String>,
    /// Allowed request headers; `*` for any.
    pub allowed_headers: Vec<String>,
    /// Response headers that scripts may read.
    pub exposed_headers: Vec<String>,
    /// Whether cookies and credentials may be sent.
    pub allow_credentials: bool,
    /// Seconds that a browser may cache a preflight response; 0 omits the header.
    pub max_age: i64,
    /// OPTIONS requests go upstream and skip every middleware.
    pub options_passthrough: bool,
    /// Log each decision.
    pub debug: bool,
}
