//! Applies the policies of a key to its session. A policy decides all of a session or parts of it. If several decide the same part,
//! access rights are combined and the more generous limit wins.
//!
//! The result is for decisions about requests. The stored session does not change, so a changed policy applies without a change of
//! keys.

use std::collections::HashSet;
use std::fmt;

use self::merge::Merge;
use super::Policy;
use crate::session::Session;

mod merge;

/// Why a key is invalid because of its policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyError {
    /// The key's only policy does not exist.
    NotFound(String),
    /// The key's only policy belongs to another organisation.
    OtherOrganisation,
    /// The policy of this identifier has `per_api` together with other partitions.
    PerApiWithPartitions(String),
    /// One policy has `per_api` and another has partitions.
    PerApiBesidePartitioned,
    /// None of several policies can be applied, or those that can give no access.
    NoneValid,
}

/// The session of a key with its policies, which `lookup` finds. Without policies it is the session itself, except that limits of
/// single APIs get their own counters.
pub fn apply<'p>(session: &Session, lookup: &dyn Fn(&str) -> Option<&'p Policy>) -> Result<Session, PolicyError> {
    let ids = session.policy_ids();
    if ids.is_empty() {
        return Ok(with_own_scopes(session));
    }
    let policies = valid_policies(session, &ids, lookup)?;
    check_partitions(&policies)?;
    let mut merge = Merge::new(session, &policies);
    for policy in &policies {
        merge.add(policy);
    }
    let merged = merge.finish();
    // Empty access rights mean access to everything, which a combination of policies must never produce by accident.
    if policies.is_empty() || merged.access_rights.is_empty() {
        return Err(PolicyError::NoneValid);
    }
    Ok(merged)
}

/// Lifetime in seconds of a new key with these policies, `None` for ever. The last policy with a lifetime decides.
pub fn key_expires_in<'p>(ids: &[impl AsRef<str>], lookup: &dyn Fn(&str) -> Option<&'p Policy>) -> Option<i64> {
    let seconds = |id: &str| lookup(id).map(|policy| policy.key_expires_in).filter(|seconds| *seconds > 0);
    ids.iter().rev().find_map(|id| seconds(id.as_ref()))
}

fn with_own_scopes(session: &Session) -> Session {
    let mut session = session.clone();
    for (api_id, right) in &mut session.access_rights {
        if right.own_limit().is_some() {
            right.allowance_scope.clone_from(api_id);
        }
    }
    session
}

/// The policies that exist and belong to the key's organisation. A single policy must; of several, some may be missing.
fn valid_policies<'p>(
    session: &Session,
    ids: &[&str],
    lookup: &dyn Fn(&str) -> Option<&'p Policy>,
) -> Result<Vec<&'p Policy>, PolicyError> {
    let mut policies = Vec::new();
    // A repeated policy changes nothing, but a key can name one as often as its body has room.
    let mut seen = HashSet::new();
    for id in ids.iter().filter(|id| seen.insert(**id)) {
        let found = match lookup(id) {
            None => Err(PolicyError::NotFound((*id).to_owned())),
            Some(policy) if policy.org_id != session.org_id => Err(PolicyError::OtherOrganisation),
            Some(policy) => Ok(policy),
        };
        match found {
            Ok(policy) => policies.push(policy),
            Err(error) if ids.len() == 1 => return Err(error),
            Err(_) => {}
        }
    }
    Ok(policies)
}

fn check_partitions(policies: &[&Policy]) -> Result<(), PolicyError> {
    let is_partitioned = policies.iter().any(|policy| policy.partitions.is_partitioned());
    for policy in policies.iter().filter(|policy| policy.partitions.per_api) {
        if policy.partitions.is_partitioned() {
            return Err(PolicyError::PerApiWithPartitions(policy.id().to_owned()));
        }
        if is_partitioned && !policy.access_rights.is_empty() {
            return Err(PolicyError::PerApiBesidePartitioned);
        }
    }
    Ok(())
}

/// Tyk's wording, which callers of the control API see.
impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicyError::NotFound(id) => write!(f, "policy not found: {id:?}"),
            PolicyError::OtherOrganisation => {
                f.write_str("attempting to apply policy from different organisation to key, skipping")
            }
            PolicyError::PerApiWithPartitions(id) => {
                write!(f, "cannot apply policy {id} which has per_api and any of partitions set")
            }
            PolicyError::PerApiBesidePartitioned => {
                f.write_str("cannot apply multiple policies when some have per_api set and some are partitioned")
            }
            PolicyError::NoneValid => f.write_str("key has no valid policies to be applied"),
        }
    }
}

impl std::error::Error for PolicyError {}

#[cfg(test)]
mod tests;
