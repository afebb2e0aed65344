//! Somebody whom another server vouches for, and the session that the gateway gives them: one for each, made from policies, or with the
//! right to one API alone. It is named as Tyk names it, so that scripts find it.

use crate::auth::keys::{HeldKey, Keys, identity_digest};
use crate::base::digest::Digest;
use md5::{Digest as _, Md5};
use std::sync::Arc;
use tollgate_model::api::ApiDefinition;
use tollgate_model::policy;
use tollgate_model::session::{AccessRight, Session};

/// An identity and what its session is made of.
pub(crate) struct Identity {
    digest: Digest,
    /// The session's name, which the control API knows it by.
    session_id: String,
    alias: String,
    policies: Vec<String>,
    /// The API that may be called when there are no policies.
    right: Option<Arc<AccessRight>>,
    /// When the session may end at the earliest; 0 when it does not end.
    expires: i64,
}

impl Identity {
    /// An identity with policies. `subject` names the session, `token_expires` is the end of what vouches for it.
    pub(crate) fn with_policies(
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
        // Without a lifetime the token's own end is the only one.
        let expires = lifetime.map_or(0, |seconds| now.saturating_add(seconds).max(token_expires.unwrap_or_default()));
        Identity { policies, expires, ..Identity::named(keys, org_id, subject, alias) }
    }

    /// An identity that may call one API. Its session is that API's alone.
    pub(crate) fn with_right(keys: &Keys, org_id: &str, subject: &str, right: &Arc<AccessRight>) -> Self {
        let name = format!("{}/{subject}", right.api_id);
        Identity { right: Some(right.clone()), ..Identity::named(keys, org_id, &name, subject.to_owned()) }
    }

    fn named(keys: &Keys, org_id: &str, subject: &str, alias: String) -> Self {
        let session_id = keys.generate(org_id, Md5::digest(subject.as_bytes()).into());
        let digest = identity_digest(&session_id);
        Identity { digest, session_id, alias, policies: Vec::new(), right: None, expires: 0 }
    }

    /// The name of its session.
    pub(crate) fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The first of its policies.
    pub(crate) fn first_policy(&self) -> Option<&String> {
        self.policies.first()
    }

    /// Its session, in the organisation that it was made for.
    #[inline]
    pub(crate) fn key(&self, keys: &Keys, org_id: &str) -> Option<HeldKey> {
        keys.identity(&self.digest, &self.session_id, &self.policies, self.expires, &|| self.session(org_id))
    }

    fn session(&self, org_id: &str) -> Session {
        Session {
            org_id: org_id.to_owned(),
            apply_policies: self.policies.clone(),
            access_rights: self.right.iter().map(|right| (right.api_id.clone(), AccessRight::clone(right))).collect(),
            alias: self.alias.clone(),
            expires: self.expires,
            meta_data: [("TykJWTSessionID".to_owned(), self.session_id.as_str().into())].into_iter().collect(),
            ..Session::default()
        }
    }
}

/// The right to call one API, in all its versions.
pub(crate) fn right_to(definition: &ApiDefinition) -> Arc<AccessRight> {
    Arc::new(AccessRight {
        api_id: definition.api_id.clone(),
        api_name: definition.name.clone(),
        versions: definition.version_data.versions.keys().cloned().collect(),
        ..AccessRight::default()
    })
}

/// The first of some policies can be given to identities of an organisation.
pub(crate) fn is_usable(policies: &[String], org_id: &str, keys: &Keys) -> bool {
    let lookup = keys.policies_now();
    policies.first().and_then(|id| lookup.get(id)).is_some_and(|policy| policy.org_id == org_id)
}
