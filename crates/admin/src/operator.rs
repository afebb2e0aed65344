//! Who operates the gateway, as one of its sessions or calls knows them.

use crate::role::Role;
use crate::scope::OperatorScope;
use serde::{Deserialize, Serialize};

/// A session ends after this time without use.
pub const IDLE_S_MAX: u64 = 30 * 60;
/// A session ends after this time, unless its provider's settings say otherwise.
pub const LIFE_S_MAX: u64 = 12 * 60 * 60;

/// Who is signed in, or calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operator {
    /// Name of the user; [`crate::users::SECRET`] for someone who signed in with the control secret; `token:` and its name for a token;
    /// the provider's name, a colon and a name there. No user's name has a colon.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// What they reach.
    pub scope: OperatorScope,
    /// Where they signed in, if at a provider.
    pub provider: Option<ProviderSession>,
}

/// A session at a provider of OpenID Connect, which can end it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderSession {
    /// Name of the provider in the configuration.
    pub provider: String,
    /// `sub`: who it is at the provider.
    pub subject: String,
    /// `sid`: the session at the provider, if it names it.
    pub sid: Option<String>,
}

impl Operator {
    /// The operator who is this user.
    pub fn of_user(user: &crate::users::User) -> Self {
        Operator { name: user.name.clone(), role: user.role, scope: user.scope.clone(), provider: None }
    }
}
