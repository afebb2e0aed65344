//! A key as requests meet it: its session with all policies applied, taken apart once.

use super::Counters;
use super::limits::Limits;
use super::quota::Quota;
use regex::Regex;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_model::session::{AccessRight, DryRun, Session};

/// One key.
pub struct Key {
    /// The policies' number that it was compiled with.
    pub generation: u64,
    /// The session with policies applied.
    pub session: Session,
    pub dry_run: DryRun,
    expires_unix_s: Option<u64>,
    rights: Rights,
    /// Limits of the key as a whole.
    limits: Limits,
}

enum Rights {
    /// No rights are written: everything may be called.
    Everything,
    Listed(HashMap<String, Right>),
}

/// What a key may do on one API.
pub struct Right {
    versions: Vec<String>,
    urls: Vec<Url>,
    pub limits: Limits,
}

struct Url {
    /// `None` for a pattern that is none: it allows nothing.
    pattern: Option<Regex>,
    methods: Vec<String>,
}

/// Whether a key can be used at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    Good,
    Inactive,
    Expired,
}

impl Key {
    pub fn compile(session: Session, generation: u64, counters: &Counters, quota: &dyn Fn(&str) -> Arc<Quota>) -> Self {
        let rights = session.access_rights.iter().filter(|(_, right)| !right.disabled);
        let rights: HashMap<_, _> =
            rights.map(|(api, right)| (api.clone(), Right::compile(right, &session, counters, quota))).collect();
        Key {
            generation,
            dry_run: session.dry_run,
            expires_unix_s: u64::try_from(session.expires).ok().filter(|expires| *expires > 0),
            rights: if session.access_rights.is_empty() { Rights::Everything } else { Rights::Listed(rights) },
            limits: Limits::new(&session.limit(), "", counters, quota),
            session,
        }
    }

    pub fn state(&self, now_unix_s: u64) -> KeyState {
        if self.session.is_inactive {
            KeyState::Inactive
        } else if self.expires_unix_s.is_some_and(|expires| now_unix_s >= expires) {
            KeyState::Expired
        } else {
            KeyState::Good
        }
    }

    /// Whether the key may call a version of an API at all.
    pub fn may_call(&self, api: &str, version: Option<&str>) -> bool {
        match &self.rights {
            Rights::Everything => true,
            Rights::Listed(rights) => {
                rights.get(api).is_some_and(|right| version.is_none_or(|name| right.versions.iter().any(|allowed| allowed == name)))
            }
        }
    }

    /// Whether the key may call an endpoint of an API that it may call.
    pub fn may_call_endpoint(&self, api: &str, method: &str, paths: &[&str]) -> bool {
        match &self.rights {
            Rights::Everything => true,
            Rights::Listed(rights) => rights.get(api).is_some_and(|right| right.allows(method, paths)),
        }
    }

    /// The limits that hold for this key on an API.
    pub fn limits(&self, api: &str) -> &Limits {
        match &self.rights {
            Rights::Everything => &self.limits,
            Rights::Listed(rights) => rights.get(api).map_or(&self.limits, |right| &right.limits),
        }
    }

    /// The session with what is left of its quotas.
    pub fn live_session(&self, now_unix_s: u64) -> Session {
        let mut session = self.session.clone();
        if let Some((_, view)) = self.limits.quota(now_unix_s) {
            session.quota_remaining = view.remaining;
            session.quota_renews = i64::try_from(view.renews_unix_s).unwrap_or_default();
        }
        for (api, right) in &mut session.access_rights {
            let Some(limit) = &mut right.limit else { continue };
            if let Some((_, view)) = self.limits(api).quota(now_unix_s) {
                limit.quota_remaining = view.remaining;
                limit.quota_renews = i64::try_from(view.renews_unix_s).unwrap_or_default();
            }
        }
        session
    }
}

impl Right {
    fn compile(right: &AccessRight, session: &Session, counters: &Counters, quota: &dyn Fn(&str) -> Arc<Quota>) -> Self {
        let urls = right.allowed_urls.iter();
        let root = session.limit();
        let (limit, scope) = match right.own_limit() {
            Some(limit) => (limit, right.allowance_scope.as_str()),
            None => (&root, ""),
        };
        Right {
            versions: right.versions.clone(),
            urls: urls.map(|url| Url { pattern: Regex::new(&url.url).ok(), methods: url.methods.clone() }).collect(),
            limits: Limits::new(limit, scope, counters, quota),
        }
    }

    /// With a list of URLs, one must fit the method and one of the path's forms.
    fn allows(&self, method: &str, paths: &[&str]) -> bool {
        let fits = |url: &Url| {
            let pattern = url.pattern.as_ref();
            url.methods.iter().any(|allowed| allowed == method)
                && pattern.is_some_and(|pattern| paths.iter().any(|path| pattern.is_match(path)))
        };
        self.urls.is_empty() || self.urls.iter().any(fits)
    }
}
