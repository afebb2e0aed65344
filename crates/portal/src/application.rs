//! Applications: what a team calls APIs with. Each has grants, which say what it may use under which plan, and each grant has keys.

use crate::developer::is_id;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Applications of a team.
pub(crate) const APPLICATIONS_MAX: usize = 50;
/// Grants of an application.
pub(crate) const GRANTS_MAX: usize = 50;
/// Keys of a grant, also those that run out.
pub(crate) const KEYS_MAX: usize = 10;

/// What calls APIs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortalApplication {
    /// What its team calls it.
    pub name: String,
    /// When it was made, in seconds since 1970.
    pub created_unix_s: u64,
    /// What it may use, or has asked for, by id.
    pub grants: BTreeMap<String, AccessGrant>,
}

/// A plan of a product for an application. Times are in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessGrant {
    /// Id of the product.
    pub product: String,
    /// Id of the plan.
    pub plan: String,
    /// How far it is.
    pub state: GrantState,
    /// Who asked for it.
    pub asked_by: String,
    /// When.
    pub asked_unix_s: u64,
    /// What they wrote.
    pub reason: String,
    /// When somebody decided.
    pub decided_unix_s: u64,
    /// What the operator wrote.
    pub answer: String,
    /// Its keys.
    pub keys: Vec<GrantKey>,
}

/// How far a grant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantState {
    /// An operator has to decide.
    Requested,
    /// It may have keys.
    Approved,
    /// An operator said no.
    Rejected,
    /// Its keys are refused until an operator lets it go on.
    Suspended,
}

/// A key of a grant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrantKey {
    /// Its id at the portal.
    pub id: String,
    /// How the gateway finds it.
    pub listed_id: String,
    /// Its last characters, by which people tell keys apart.
    pub tail: String,
    /// Who made it.
    pub made_by: String,
    /// When, in seconds since 1970.
    pub created_unix_s: u64,
    /// When it ends because another one has taken its place; 0 if nobody has said so.
    pub ends_unix_s: u64,
}

/// Team and application that an id names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApplicationId {
    pub team: String,
    pub own: String,
}

impl ApplicationId {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (team, own) = text.split_once('-')?;
        (is_id(team) && is_id(own)).then(|| ApplicationId { team: team.to_owned(), own: own.to_owned() })
    }

    /// The id in addresses.
    pub(crate) fn text(&self) -> String {
        format!("{}-{}", self.team, self.own)
    }

    pub(crate) fn document(&self) -> String {
        format!("{}{}", ApplicationId::of_team(&self.team), self.own)
    }

    /// What ids of documents of a team's applications begin with.
    pub(crate) fn of_team(team: &str) -> String {
        format!("{}{team}-", ApplicationId::ALL)
    }

    /// What ids of documents of all applications begin with.
    pub(crate) const ALL: &str = "application-";

    /// The application of a document.
    pub(crate) fn of_document(id: &str) -> Option<Self> {
        ApplicationId::parse(id.strip_prefix(ApplicationId::ALL)?)
    }
}

impl AccessGrant {
    /// Whether a key of this grant is counted that ends at some time.
    pub(crate) fn live_keys(&self, now_unix_s: u64) -> usize {
        self.keys.iter().filter(|key| key.ends_unix_s == 0 || key.ends_unix_s > now_unix_s).count()
    }
}
