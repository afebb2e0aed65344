//! Dry run of middlewares that refuse. Reads `tollgate.dry_run`: the kinds of refusals that are only counted and told in the response header
//! `Tollgate-Dry-Run`. Limits have a dry run of their own.

use super::{ChainPhase, Middleware};
use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::HeaderNames;
use crate::data::refusal::{self, Refusal};
use crate::observe::LimitFact;
use tollgate_model::api::DryRunKind;

struct DryRun(Box<dyn Middleware>);

/// The middleware itself, or one that lets pass what it would refuse.
pub(crate) fn dry_run(middleware: Box<dyn Middleware>, kinds: &[DryRunKind]) -> Box<dyn Middleware> {
    match kind_of(middleware.name()) {
        Some(kind) if kinds.contains(&kind) => Box::new(DryRun(middleware)),
        _ => middleware,
    }
}

fn kind_of(name: &str) -> Option<DryRunKind> {
    match name {
        "IpAllow" | "IpBlock" => Some(DryRunKind::IpLists),
        "CertificateCheck" => Some(DryRunKind::Certificates),
        "RequestSize" => Some(DryRunKind::RequestSize),
        "ValidateJson" | "ValidateRequest" | "GraphqlCheck" => Some(DryRunKind::Validation),
        "CircuitBreak" => Some(DryRunKind::CircuitBreakers),
        // What a key may do can't be known without one.
        "KeyStateCheck" | "AccessRights" | "ScopeChecks" => Some(DryRunKind::Authentication),
        name => (ChainPhase::of(name) == ChainPhase::Auth).then_some(DryRunKind::Authentication),
    }
}

impl Middleware for DryRun {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn forget_key_sets(&self) {
        self.0.forget_key_sets();
    }

    fn header_names(&self, names: &mut HeaderNames) {
        self.0.header_names(names);
    }

    fn limit_of(&self, exchange: &Exchange<'_>, refusal: &Refusal) -> Option<LimitFact> {
        self.0.limit_of(exchange, refusal)
    }

    fn cache_key(&self, exchange: &mut Exchange<'_>) -> Option<String> {
        self.0.cache_key(exchange)
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        match self.0.on_request(exchange) {
            // Why there is no session has been told already.
            Step::Refuse(refusal) if refusal == refusal::SESSION_MISSING => Step::Next,
            Step::Refuse(refusal) => {
                // A request that is held later runs the chain again, and counts once.
                if !exchange.has_passed(self) {
                    exchange.report_dry_run(&refusal);
                    exchange.pass(self, Some(refusal));
                }
                Step::Next
            }
            step => step,
        }
    }
}
