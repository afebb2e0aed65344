//! What one of several alternatives of authentication starts from.

use super::{Exchange, KnownCaller, Redirect};
use crate::header_change::HeaderChange;
use crate::url::Url;
use std::borrow::Cow;
use std::sync::Arc;
use tollgate_http::HeaderEdits;

/// All that an alternative may change, as it was before.
pub struct AuthAttempt<'a> {
    edits: HeaderEdits,
    shown: Option<HeaderEdits>,
    method: Cow<'a, str>,
    url: Url<'a>,
    new_body: Option<Arc<Vec<u8>>>,
    redirected: Option<Redirect>,
    response_changes: usize,
}

impl<'a> Exchange<'a> {
    /// The state from which alternatives start.
    pub fn attempt(&self) -> AuthAttempt<'a> {
        AuthAttempt {
            edits: self.outgoing.edits.clone(),
            shown: self.head.lines().edits().cloned(),
            method: self.method.clone(),
            url: self.url.clone(),
            new_body: self.body.new.clone(),
            redirected: self.decisions.redirected.clone(),
            response_changes: self.response.changes.len(),
        }
    }

    /// Undoes all that a failed alternative has decided; returns the changes to the response that it wanted.
    pub fn drop_attempt(&mut self, before: &AuthAttempt<'a>) -> Vec<HeaderChange> {
        *self.caller = KnownCaller::default();
        self.outgoing.status = 0;
        self.outgoing.edits.clone_from(&before.edits);
        self.method.clone_from(&before.method);
        self.url.clone_from(&before.url);
        self.body.new.clone_from(&before.new_body);
        self.decisions.redirected.clone_from(&before.redirected);
        if self.head.lines().edits() != before.shown.as_ref() {
            self.head.show(before.shown.clone());
            self.find_endpoints();
        }
        self.response.changes.drain(before.response_changes..).collect()
    }
}

impl AuthAttempt<'_> {
    /// The same for a request that is held.
    pub fn into_owned(self) -> AuthAttempt<'static> {
        let AuthAttempt { edits, shown, method, url, new_body, redirected, response_changes } = self;
        let (method, url) = (Cow::Owned(method.into_owned()), url.into_owned());
        AuthAttempt { edits, shown, method, url, new_body, redirected, response_changes }
    }
}
