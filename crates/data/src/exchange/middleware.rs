//! What a middleware is.

use super::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::refusal::Refusal;
use serde::Serialize;
use std::any::Any;
use tollgate_model::api::DryRunKind;
use tollgate_observe::LimitFact;
use utoipa::ToSchema;

/// Part of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChainPhase {
    /// Before the caller is identified.
    PreAuth,
    /// Identifies the caller.
    Auth,
    /// After authentication.
    PostAuth,
}

/// What a middleware is, for those who do not know its type.
pub struct AboutMiddleware {
    /// Its name in metrics, traces and records.
    pub name: &'static str,
    /// The kind of refusals that a dry run of this middleware only counts.
    pub dry_run: Option<DryRunKind>,
    /// Its part when a request is only rehearsed.
    pub rehearsed: Rehearsed,
}

/// How a middleware takes part in a rehearsal, which asks nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rehearsed {
    /// It runs. Where it would wait for an answer, the outcome is open.
    Runs,
    /// It runs, and goes on without the answer that it would wait for.
    RunsOn,
    /// It runs, and what it asks other threads of this process for is waited for.
    Waits,
    /// It runs, and the step that it adds for the response judges the recorded one. Nothing behind it changes a response.
    Judges,
    /// It runs, unless it was recorded what it has found out about the caller. True of all that identify the caller.
    Recorded,
    /// It runs if the scopes of the caller's token are known; else the outcome is open.
    NeedsScopes,
    /// Others decide: the outcome is open.
    Asks,
    /// It needs other servers or the clock, and does not decide whether a request passes: it is left out.
    Passes,
    /// Its stored responses depend on traffic that is not rehearsed: only its key is noted.
    CacheKey,
}

/// A middleware in the chain of an API.
pub struct ChainLink {
    pub about: &'static AboutMiddleware,
    pub phase: ChainPhase,
    pub middleware: Box<dyn Middleware>,
}

/// One step of a chain.
pub trait Middleware: Any + Send + Sync {
    /// Drops the public keys that it fetched; the next request that needs one waits for it.
    fn forget_key_sets(&self) {}

    /// Adds the request headers that it sets, removes or reads, except for the places of credentials.
    fn header_names(&self, _: &mut HeaderNames) {}

    /// The limit behind one of its refusals, for people who look. Called right after the refusal, for few of them.
    fn limit_of(&self, _: &Exchange<'_>, _: &Refusal) -> Option<LimitFact> {
        None
    }

    /// The key under which it would look for a stored response, without the definition's part; `None` if it would not look for one.
    fn cache_key(&self, _: &mut Exchange<'_>) -> Option<String> {
        None
    }

    /// Whether it only prepares the processing of the response, which is due even if a middleware before it has answered the request.
    fn is_for_responses(&self) -> bool {
        false
    }

    /// Checks and changes a request, and lets it pass or not.
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step;
}
