//! Identities that another server vouches for, and the session that the gateway gives to each. A session is made from policies, or with the
//! right to call one API only. It is named as Tyk names it, so that scripts find it.

use crate::digest::Digest;
use crate::keys::{HeldKey, Keys, TOKEN_SESSION, identity_digest};
use md5::{Digest as _, Md5};
use std::sync::Arc;
use tollgate_model::api::ApiDefinition;
use tollgate_model::policy;
use tollgate_model::session::{AccessRight, Session};

/// An identity and the data that its session is made from.
pub struct Identity {
    digest: Digest,
    /// Name of the session in the control API.
    session_id: String,
    alias: String,
    policies: Vec<String>,
    /// The one API that the identity may call when it has no policies.
    right: Option<Arc<AccessRight>>,
    /// Earliest time at which the session may expire, in Unix seconds; 0 when it does not expire.
    expires: i64,
}

impl Identity {
    /// Makes an identity with policies. `subject` names the session; `token_expires` is the expiry of the token that vouches for the
    /// identity.
    pub fn with_policies(
        keys: &Keys,
        org_id: &str,
        subject: &str,
        alias: String,
        policies: Vec<String>,
        token_expires: Option<i64>,
        unix_s: u64,
    ) -> Self {
        let lookup = keys.policies_now();
        let lifetime = policy::key_expires_in(&policies, &|id| lookup.get(id));
        let now = i64::try_from(unix_s).unwrap_or_default();
        // Without a lifetime in the policies, only the token itself expires.
        let expires = lifetime.map_or(0, |seconds| now.saturating_add(seconds).max(token_expires.unwrap_or_default()));
        Identity { policies, expires, ..Identity::named(keys, org_id, subject, alias) }
    }

    /// Makes an identity that may call one API. Its session is valid for that API only.
    pub fn with_right(keys: &Keys, org_id: &str, subject: &str, right: &Arc<AccessRight>) -> Self {
        let name = format!("{}/{subject}", right.api_id);
        Identity { right: Some(right.clone()), ..Identity::named(keys, org_id, &name, subject.to_owned()) }
    }

    fn named(keys: &Keys, org_id: &str, subject: &str, alias: String) -> Self {
        let session_id = keys.generate(org_id, Md5::digest(subject.as_bytes()).into());
        let digest = identity_digest(&session_id);
        Identity { digest, session_id, alias, policies: Vec::new(), right: None, expires: 0 }
    }

    /// Name of the identity's session.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// First of the identity's policies.
    pub fn first_policy(&self) -> Option<&String> {
        self.policies.first()
    }

    /// Returns the identity's session, in the organisation that it was made for.
    #[inline]
    pub fn key(&self, keys: &Keys, org_id: &str) -> Option<HeldKey> {
        keys.identity(&self.digest, &self.session_id, &self.policies, self.expires, &|| self.session(org_id))
    }

    fn session(&self, org_id: &str) -> Session {
        Session {
            org_id: org_id.to_owned(),
            apply_policies: self.policies.clone(),
            access_rights: self.right.iter().map(|right| (right.api_id.clone(), AccessRight::clone(right))).collect(),
            alias: self.alias.clone(),
            expires: self.expires,
            meta_data: [(TOKEN_SESSION.to_owned(), self.session_id.as_str().into())].into_iter().collect(),
            ..Session::default()
        }
    }
}

/// The right to call all versions of one API.
pub fn right_to(definition: &ApiDefinition) -> Arc<AccessRight> {
    Arc::new(AccessRight {
        api_id: definition.api_id.clone(),
        api_name: definition.name.clone(),
        versions: definition.version_data.versions.keys().cloned().collect(),
        ..AccessRight::default()
    })
}

/// Whether identities of an organisation can be given the first of these policies.
pub fn is_usable(policies: &[String], org_id: &str, keys: &Keys) -> bool {
    let lookup = keys.policies_now();
    policies.first().and_then(|id| lookup.get(id)).is_some_and(|policy| policy.org_id == org_id)
}
