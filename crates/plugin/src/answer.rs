//! What a hook changes. Nothing here is trusted: the gateway checks names, values and sizes before it uses them.

use crate::PluginResponse;
use serde_json::{Map, Value};
use tollgate_model::session::Session;

/// What a hook returned.
#[derive(Debug, Default)]
pub struct HookAnswer {
    /// Changes of the request; without effect for response hooks.
    pub request: RequestChanges,
    /// Changes of the caller's session.
    pub session: SessionChange,
    /// The credential that `auth_check` found: the name of the session.
    pub token: String,
    /// The response that replaces the upstream's; only of a response hook, which must return one.
    pub response: Option<PluginResponse>,
}

/// Changes of a request.
#[derive(Debug, Default)]
pub struct RequestChanges {
    /// The method; `None` keeps it.
    pub method: Option<String>,
    /// Path and query; `None` keeps them.
    pub url: Option<String>,
    /// The body; `None` keeps it.
    pub body: Option<Vec<u8>>,
    /// Headers to remove, before others are set.
    pub delete_headers: Vec<String>,
    /// Headers to set, in place of all lines with their names.
    pub set_headers: Vec<(String, String)>,
    /// Header lines to add, after those of `set_headers`.
    pub add_headers: Vec<(String, String)>,
    /// Parameters of the query to remove, before others are set.
    pub delete_params: Vec<String>,
    /// Parameters to set, in place of all with their names.
    pub add_params: Vec<(String, String)>,
    /// Parameters to append.
    pub extended_params: Vec<(String, Vec<String>)>,
    /// Which query the changes of parameters begin with.
    pub query_base: QueryBase,
    /// The response that ends the request.
    pub overrides: Option<ReturnOverrides>,
}

/// Which query the changes of parameters begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryBase {
    /// That of the request before the hook: a query in a new URL has no effect, as with Tyk's gRPC plugins.
    #[default]
    Request,
    /// That of the URL that the hook returned, as with Tyk's JavaScript plugins.
    Url,
}

/// The response with which a hook ends a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReturnOverrides {
    /// The status code.
    pub status: i64,
    /// The body, or the message of an error.
    pub body: String,
    /// Header lines.
    pub headers: Vec<(String, String)>,
    /// Whether a status of 400 or more is sent with the body as it is, not as an error of the gateway.
    pub override_error: bool,
    /// Whether response hooks and transforms process it like an upstream's response.
    pub is_processed: bool,
}

/// What becomes of the caller's session.
#[derive(Debug, Default)]
pub enum SessionChange {
    /// It stays.
    #[default]
    Kept,
    /// Its `meta_data` is replaced.
    MetaData(Map<String, Value>),
    /// It is replaced. Only `auth_check` may do so.
    Whole(Box<Session>),
}
