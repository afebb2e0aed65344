//! What the portal needs of the gateway, and all that it knows of it.

use crate::refusal::PortalRefusal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::pin::Pin;

/// What is on its way from the gateway.
pub type DoorReply<'d, T> = Pin<Box<dyn Future<Output = Result<T, PortalRefusal>> + Send + 'd>>;

/// Keys of one question about calls.
pub const CALLS_KEYS_MAX: usize = 500;

/// The gateway, as the portal uses it.
pub trait GatewayDoor: Send + Sync {
    /// An API in service; `None` if it is not.
    fn api(&self, id: &str) -> Option<PublishedApi>;

    /// Another number after each change of the APIs in service.
    fn version(&self) -> u64;

    /// Whether there is a policy.
    fn has_policy(&self, id: &str) -> bool;

    /// Says which APIs are in products, so that the portal's pages may try them.
    fn set_tried(&self, apis: HashSet<String>);

    /// Makes a key.
    fn make_key(&self, wanted: WantedKey) -> DoorReply<'_, MadeKey>;

    /// Changes a key; it is in effect with the next request. False if there is none.
    fn change_key(&self, listed_id: String, change: KeyChange) -> DoorReply<'_, bool>;

    /// Removes a key: the next request with it is refused. False if there was none.
    fn remove_key(&self, listed_id: String) -> DoorReply<'_, bool>;

    /// The limits of a key and what is left of them; `None` if there is no such key.
    fn key_state(&self, listed_id: String) -> DoorReply<'_, Option<PortalKeyState>>;

    /// What a key was used for since a time, in intervals of `step_s`, in order of time. Nothing if nobody records it.
    fn usage(&self, listed_id: String, from_unix_s: u64, step_s: u64) -> DoorReply<'_, Vec<KeyUsage>>;

    /// How usage names a key, now and when the key is gone; `None` if there is no such key.
    fn usage_id(&self, listed_id: String) -> DoorReply<'_, Option<String>>;

    /// Requests with a status below 400 of a day that begins at a time, for at most [`CALLS_KEYS_MAX`] keys. Keys without any may be missing.
    fn calls(&self, usage_ids: Vec<String>, day_unix_s: u64) -> DoorReply<'_, Vec<(String, u64)>>;

    /// When a key was used last, in seconds since 1970; `None` if it was not, or nobody records it.
    fn last_used(&self, listed_id: String) -> DoorReply<'_, Option<u64>>;

    /// The last requests with a key that were refused or failed, newest first.
    fn refusals(&self, listed_id: String, rows: usize) -> DoorReply<'_, Vec<KeyRefusal>>;

    /// Tells the handlers of events.
    fn tell(&self, notice: PortalNotice);
}

/// An API in service.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedApi {
    /// Its id.
    pub id: String,
    /// What its definition calls it.
    pub name: String,
    /// Path under which it is called, from the gateway's URL.
    pub listen_path: String,
    /// Host under which it is called; empty for the gateway's.
    pub host: String,
    /// Name of the header for keys; empty if it takes no keys.
    pub key_header: String,
    /// Path from the gateway's URL at which clients get tokens with their id and secret; empty if it has no such clients.
    pub token_path: String,
    /// Whether its requests are recorded, which usage and refusals are made of.
    pub is_recorded: bool,
    /// What describes it: `openapi`, `graphql`, `mcp`, or empty.
    pub kind: String,
    /// The document that describes it, for people: an OpenAPI document, or the text of a GraphQL schema.
    #[serde(skip)]
    pub document: Option<Value>,
}

/// A key that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedKey {
    /// Its policy.
    pub policy: String,
    /// What people read in lists of keys.
    pub alias: String,
    /// Where it belongs at the portal.
    pub meta_data: Map<String, Value>,
    /// Ids of the APIs whose client it is to be, with an id and a secret; empty for a plain key.
    pub client_of: Vec<String>,
}

/// A key that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeKey {
    /// The key, or the id of the client. It is shown once.
    pub key: String,
    /// The secret of the client; empty for a key.
    pub secret: String,
    /// How the gateway finds it.
    pub listed_id: String,
}

/// What becomes of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyChange {
    /// It is refused from a time on, in seconds since 1970, or earlier if it ended earlier.
    EndsAt(u64),
    /// Whether it is refused until further notice.
    Suspended(bool),
    /// It has another policy.
    Policy(String),
}

/// The limits of a key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortalKeyState {
    /// Whether it is refused until further notice.
    pub is_suspended: bool,
    /// When it ends, in seconds since 1970; 0 for never.
    pub ends_unix_s: i64,
    /// Requests per `per_s`; 0 for any number.
    pub rate: f64,
    /// Seconds of the rate.
    pub per_s: f64,
    /// Requests of the quota; 0 or less for any number.
    pub quota_max: i64,
    /// What is left of the quota.
    pub quota_remaining: i64,
    /// When the quota begins anew, in seconds since 1970; 0 before its first request.
    pub quota_renews_unix_s: i64,
}

/// What a key was used for in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUsage {
    /// When the interval begins, in seconds since 1970.
    pub from_unix_s: u64,
    /// Requests.
    pub requests: u64,
    /// Those with a status below 400.
    pub good: u64,
}

/// A request that was refused or failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyRefusal {
    /// When, in seconds since 1970.
    pub unix_s: u64,
    /// Name of the API.
    pub api: String,
    /// Its method.
    pub method: String,
    /// Its path, without the query.
    pub path: String,
    /// Status of the response; 0 without one.
    pub status: u16,
    /// Why, for programs.
    pub cause: String,
    /// Why, for people.
    pub message: String,
    /// Id of the request.
    pub request_id: String,
}

/// Something that happened at the portal, for handlers of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortalNotice {
    /// What happened, such as `request_made`.
    pub what: &'static str,
    /// Id of the application; empty if it concerns none.
    pub application: String,
    /// Id of the grant; empty if it concerns none.
    pub grant: String,
    /// Id of the product; empty if it concerns none.
    pub product: String,
    /// Id of the plan; empty if it concerns none.
    pub plan: String,
    /// Mail address of the developer; empty if nobody's.
    pub developer: String,
}
