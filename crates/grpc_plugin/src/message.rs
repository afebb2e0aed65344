//! The messages of Tyk's `coprocess` package. The numbers of the fields are a contract with all existing servers. A map is written as the list
//! of entries that it is on the wire, in the order of the request. Calls and answers are the same message, but an answer is read into a type
//! that has only what counts: a server sends everything back, and the rest is skipped.

use prost::Message;
use prost::bytes::Bytes;

/// A call.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Object {
    /// 1 pre, 2 post, 3 post_key_auth, 4 auth_check, 5 response.
    #[prost(int32, tag = "1")]
    pub hook_type: i32,
    #[prost(string, tag = "2")]
    pub hook_name: String,
    #[prost(message, optional, tag = "3")]
    pub request: Option<MiniRequestObject>,
    #[prost(message, optional, boxed, tag = "4")]
    pub session: Option<Box<SessionState>>,
    #[prost(message, repeated, tag = "5")]
    pub metadata: Vec<MapEntry>,
    #[prost(message, repeated, tag = "6")]
    pub spec: Vec<MapEntry>,
    #[prost(message, optional, tag = "7")]
    pub response: Option<ResponseObject>,
}

/// An answer.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ObjectAnswer {
    #[prost(message, optional, tag = "3")]
    pub request: Option<RequestAnswer>,
    /// A `SessionState`, which only a check of identity changes.
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub session: Option<Bytes>,
    #[prost(message, repeated, tag = "5")]
    pub metadata: Vec<MapEntry>,
    #[prost(message, optional, tag = "7")]
    pub response: Option<ResponseAnswer>,
}

/// An entry of a map from texts to texts.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MapEntry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MiniRequestObject {
    #[prost(message, repeated, tag = "1")]
    pub headers: Vec<MapEntry>,
    #[prost(message, repeated, tag = "2")]
    pub set_headers: Vec<MapEntry>,
    #[prost(string, repeated, tag = "3")]
    pub delete_headers: Vec<String>,
    #[prost(string, tag = "4")]
    pub body: String,
    #[prost(string, tag = "5")]
    pub url: String,
    #[prost(message, repeated, tag = "6")]
    pub params: Vec<MapEntry>,
    #[prost(message, repeated, tag = "7")]
    pub add_params: Vec<MapEntry>,
    #[prost(message, repeated, tag = "8")]
    pub extended_params: Vec<MapEntry>,
    #[prost(string, repeated, tag = "9")]
    pub delete_params: Vec<String>,
    #[prost(message, optional, tag = "10")]
    pub return_overrides: Option<Overrides>,
    #[prost(string, tag = "11")]
    pub method: String,
    #[prost(string, tag = "12")]
    pub request_uri: String,
    #[prost(string, tag = "13")]
    pub scheme: String,
    #[prost(bytes = "vec", tag = "14")]
    pub raw_body: Vec<u8>,
}

/// What counts of a `MiniRequestObject`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RequestAnswer {
    #[prost(message, repeated, tag = "2")]
    pub set_headers: Vec<MapEntry>,
    #[prost(string, repeated, tag = "3")]
    pub delete_headers: Vec<String>,
    #[prost(string, tag = "5")]
    pub url: String,
    #[prost(message, repeated, tag = "7")]
    pub add_params: Vec<MapEntry>,
    #[prost(string, repeated, tag = "9")]
    pub delete_params: Vec<String>,
    #[prost(message, optional, tag = "10")]
    pub return_overrides: Option<Overrides>,
    #[prost(string, tag = "11")]
    pub method: String,
    #[prost(bytes = "vec", tag = "14")]
    pub raw_body: Vec<u8>,
}

/// Tyk's `ReturnOverrides`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Overrides {
    #[prost(int32, tag = "1")]
    pub response_code: i32,
    #[prost(string, tag = "2")]
    pub response_error: String,
    #[prost(message, repeated, tag = "3")]
    pub headers: Vec<MapEntry>,
    #[prost(bool, tag = "4")]
    pub override_error: bool,
    #[prost(string, tag = "5")]
    pub response_body: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ResponseObject {
    #[prost(int32, tag = "1")]
    pub status_code: i32,
    #[prost(bytes = "vec", tag = "2")]
    pub raw_body: Vec<u8>,
    #[prost(string, tag = "3")]
    pub body: String,
    #[prost(message, repeated, tag = "4")]
    pub headers: Vec<MapEntry>,
    #[prost(message, repeated, tag = "5")]
    pub multivalue_headers: Vec<HeaderValues>,
}

/// What counts of a `ResponseObject`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ResponseAnswer {
    #[prost(int32, tag = "1")]
    pub status_code: i32,
    #[prost(bytes = "vec", tag = "2")]
    pub raw_body: Vec<u8>,
    #[prost(message, repeated, tag = "4")]
    pub headers: Vec<MapEntry>,
    #[prost(message, repeated, tag = "5")]
    pub multivalue_headers: Vec<HeaderValues>,
}

/// Tyk's `Header`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct HeaderValues {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, repeated, tag = "2")]
    pub values: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SessionState {
    #[prost(int64, tag = "1")]
    pub last_check: i64,
    #[prost(double, tag = "2")]
    pub allowance: f64,
    #[prost(double, tag = "3")]
    pub rate: f64,
    #[prost(double, tag = "4")]
    pub per: f64,
    #[prost(int64, tag = "5")]
    pub expires: i64,
    #[prost(int64, tag = "6")]
    pub quota_max: i64,
    #[prost(int64, tag = "7")]
    pub quota_renews: i64,
    #[prost(int64, tag = "8")]
    pub quota_remaining: i64,
    #[prost(int64, tag = "9")]
    pub quota_renewal_rate: i64,
    #[prost(message, repeated, tag = "10")]
    pub access_rights: Vec<RightEntry>,
    #[prost(string, tag = "11")]
    pub org_id: String,
    #[prost(string, tag = "12")]
    pub oauth_client_id: String,
    #[prost(message, repeated, tag = "13")]
    pub oauth_keys: Vec<MapEntry>,
    #[prost(message, optional, tag = "14")]
    pub basic_auth_data: Option<PasswordData>,
    #[prost(message, optional, tag = "15")]
    pub jwt_data: Option<TokenData>,
    #[prost(bool, tag = "16")]
    pub hmac_enabled: bool,
    #[prost(string, tag = "17")]
    pub hmac_secret: String,
    #[prost(bool, tag = "18")]
    pub is_inactive: bool,
    #[prost(string, tag = "19")]
    pub apply_policy_id: String,
    #[prost(int64, tag = "20")]
    pub data_expires: i64,
    #[prost(message, optional, tag = "21")]
    pub monitor: Option<QuotaMonitor>,
    #[prost(bool, tag = "22")]
    pub enable_detailed_recording: bool,
    #[prost(message, repeated, tag = "23")]
    pub metadata: Vec<MapEntry>,
    #[prost(string, repeated, tag = "24")]
    pub tags: Vec<String>,
    #[prost(string, tag = "25")]
    pub alias: String,
    #[prost(string, tag = "26")]
    pub last_updated: String,
    #[prost(int64, tag = "27")]
    pub id_extractor_deadline: i64,
    #[prost(int64, tag = "28")]
    pub session_lifetime: i64,
    #[prost(string, repeated, tag = "29")]
    pub apply_policies: Vec<String>,
    #[prost(string, tag = "30")]
    pub certificate: String,
    #[prost(int64, tag = "31")]
    pub max_query_depth: i64,
    #[prost(string, tag = "32")]
    pub key_id: String,
    #[prost(string, tag = "33")]
    pub post_expiry_action: String,
    #[prost(int64, tag = "34")]
    pub post_expiry_grace_period: i64,
}

/// An entry of the map of access rights.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RightEntry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<AccessDefinition>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AccessDefinition {
    #[prost(string, tag = "1")]
    pub api_name: String,
    #[prost(string, tag = "2")]
    pub api_id: String,
    #[prost(string, repeated, tag = "3")]
    pub versions: Vec<String>,
    #[prost(message, repeated, tag = "4")]
    pub allowed_urls: Vec<AccessSpec>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AccessSpec {
    #[prost(string, tag = "1")]
    pub url: String,
    #[prost(string, repeated, tag = "2")]
    pub methods: Vec<String>,
}

/// Tyk's `BasicAuthData`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct PasswordData {
    #[prost(string, tag = "1")]
    pub password: String,
    #[prost(string, tag = "2")]
    pub hash: String,
}

/// Tyk's `JWTData`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TokenData {
    #[prost(string, tag = "1")]
    pub secret: String,
}

/// Tyk's `Monitor`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct QuotaMonitor {
    #[prost(double, repeated, tag = "1")]
    pub trigger_limits: Vec<f64>,
}

/// An event as JSON.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Event {
    #[prost(string, tag = "1")]
    pub payload: String,
}
