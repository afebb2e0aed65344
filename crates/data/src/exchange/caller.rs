//! Who calls, as the methods of authentication have found out.

use crate::met_budgets::caller_digest;
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use tollgate_access::jwt::{ClaimTexts, GrantedScopes};
use tollgate_access::keys::HeldKey;

/// What a request's authentication has decided.
#[derive(Default)]
pub struct KnownCaller {
    /// The key that authenticated the request.
    pub key: Option<HeldKey>,
    /// The claims of its token that variables use.
    pub claims: Option<Arc<ClaimTexts>>,
    /// The scopes of its verified token, if the API checks them.
    pub granted_scopes: Option<Arc<GrantedScopes>>,
    /// The text of the key that authenticated the request, if a variable uses it.
    pub token: Option<Box<str>>,
    /// The `meta_data` that plugins have given to its session.
    pub changed_meta_data: Option<Box<Map<String, Json>>>,
}

impl KnownCaller {
    /// The `meta_data` of the session, as plugins have changed it.
    pub fn meta_data(&self) -> Option<&Map<String, Json>> {
        let key = self.key.as_ref()?;
        Some(self.changed_meta_data.as_deref().unwrap_or(&key.session.meta_data))
    }

    /// A digest of the key, empty without one, for servers within the process: none of them needs the key itself.
    pub fn key_digest(&self) -> String {
        self.key.as_ref().map(|key| caller_digest(&key.shown)).unwrap_or_default()
    }

    /// Notes the scopes of a verified token. Those of the token that gives the session count before others.
    pub fn grant(&mut self, scopes: Option<&Arc<GrantedScopes>>, gives_session: bool) {
        if let Some(scopes) = scopes
            && (gives_session || self.granted_scopes.is_none())
        {
            self.granted_scopes = Some(scopes.clone());
        }
    }
}
