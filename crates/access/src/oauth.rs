//! The gateway as an OAuth 2.0 server (RFC 6749) for the APIs that enable it, with Tyk's endpoints, answers and store names. Each API has
//! its own clients; a token is a key, whose session is made from its client's policy. Only one thing runs on a data thread: the check that
//! a client still exists (`clients`).

mod access;
mod authorize;
mod client;
mod client_auth;
mod clients;
mod code;
mod family;
mod given;
mod grant;
mod introspect;
mod notice;
mod parameters;
mod pkce;
mod redirect;
mod refused;
mod revoke;
mod rules;
mod token;
mod token_store;

pub use authorize::{NotAsked, ask_for_code, check_request};
pub use client::{ClientShown, ClientWritten, OauthClient, Written, new_client_id, new_client_secret};
pub use client_auth::{Credentials, named_client};
pub use clients::{ANSWER_TIME_MAX, ApiClients, OauthClients, Presence, is_client};
pub use introspect::introspect;
pub use notice::Notices;
pub use parameters::OauthParameters;
pub use pkce::Challenge;
pub use redirect::{is_inside, with_query};
pub use refused::{ErrorCode, OauthRefusal};
pub use revoke::revoke;
pub use rules::{OAuthSettings, Rules};
pub use token::give_token;
pub use token_store::{Listed, TokenStore};

use crate::passwords::Passwords;
use std::sync::Arc;
use tollgate_offload::StartedOnce;
use tollgate_outbound::LazyCallClient;

/// Everything that the endpoints of one API need.
pub struct OauthProvider<'a> {
    pub rules: &'a Rules,
    pub token_store: &'a TokenStore,
    /// HTTP client for notices to other servers.
    pub auth_client: &'a LazyCallClient,
    pub passwords: &'a StartedOnce<Passwords>,
    pub notices: &'a Arc<Notices>,
    pub unix_s: u64,
}
