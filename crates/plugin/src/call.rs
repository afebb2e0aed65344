//! What a hook sees: the request, the caller's session, the API and the response.

use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tollgate_model::session::Session;

/// Where in the life of a request a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookKind {
    /// Before the caller is identified.
    Pre,
    /// Identifies the caller.
    AuthCheck,
    /// After the caller is identified, before its rights and limits.
    PostKeyAuth,
    /// After everything else, just before the request goes to its upstream.
    Post,
    /// When the upstream has answered.
    Response,
}

impl HookKind {
    /// Its name in `custom_middleware`.
    pub fn field(self) -> &'static str {
        match self {
            HookKind::Pre => "pre",
            HookKind::AuthCheck => "auth_check",
            HookKind::PostKeyAuth => "post_key_auth",
            HookKind::Post => "post",
            HookKind::Response => "response",
        }
    }
}

/// One call of a hook.
pub struct HookCall {
    /// Index of the data thread that makes the call, for drivers that keep something for each thread.
    pub core: usize,
    /// The hook.
    pub kind: HookKind,
    /// Its place in the list of hooks of its kind; 0 for `auth_check`.
    pub index: usize,
    /// The name of the plugin's function.
    pub name: Arc<str>,
    /// The API of the request.
    pub api: Arc<PluginApi>,
    /// The request as it is now.
    pub request: PluginRequest,
    /// The caller's session; not before the caller is identified.
    pub session: Option<Box<Session>>,
    /// The credential of the caller's session, if it is known.
    pub token: Option<Box<str>>,
    /// The upstream's response, for [`HookKind::Response`].
    pub response: Option<PluginResponse>,
    /// Whether the plugin wants bodies as bytes only.
    pub raw_body_only: bool,
    /// The request's place in its trace, as the value of a `traceparent` header, if requests are traced.
    pub trace_parent: Option<String>,
    /// How long the request waits. The call is dropped when the time is over or the client is gone.
    pub time_max: Duration,
}

/// What a hook sees of its API.
#[derive(Debug, Default)]
pub struct PluginApi {
    /// `api_id`.
    pub id: String,
    /// `org_id`.
    pub org_id: String,
    /// MD5 of the bundle's name in hexadecimal; that of an empty name without a bundle.
    pub bundle_hash: String,
    /// `config_data`, unless it is empty or disabled.
    pub config_data: Option<Value>,
    /// The same as compact JSON.
    pub config_text: Option<String>,
}

/// A request as plugins see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginRequest {
    /// The method.
    pub method: String,
    /// `http` or `https`.
    pub scheme: &'static str,
    /// Path and query as they are now, with the listen path.
    pub url: String,
    /// The URL at the upstream, for response hooks; or of a rewrite to another server (`http://`) or API (`tyk://`), for post hooks.
    pub absolute_url: Option<String>,
    /// The request target as the client sent it.
    pub request_uri: String,
    /// All header lines in their order. Names are in Go's canonical form. Values that are not UTF-8 have replacement characters.
    pub headers: Vec<(String, String)>,
    /// `Host`, which is not among the headers.
    pub host: String,
    /// All parameters of the query in their order, decoded.
    pub params: Vec<(String, String)>,
    /// The body as the client sent it.
    pub body: Vec<u8>,
}

/// A response as plugins see and change it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginResponse {
    /// The status code.
    pub status: u16,
    /// All header lines in their order. Names are in Go's canonical form.
    pub headers: Vec<(String, String)>,
    /// The body as the upstream sent it.
    pub body: Vec<u8>,
}
