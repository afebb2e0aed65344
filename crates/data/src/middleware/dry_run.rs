//! Dry run of middlewares that refuse. Reads `tollgate.dry_run`: the kinds of refusals that are only counted and told in the response header
//! `Tollgate-Dry-Run`. Limits have a dry run of their own.

use super::Middleware;
use crate::exchange::{ChainLink, Exchange, Step};
use crate::header_names::HeaderNames;
use crate::refusal::{self, Refusal};
use tollgate_model::api::DryRunKind;
use tollgate_observe::LimitFact;

struct DryRunMiddleware(Box<dyn Middleware>);

/// The middleware itself, or one that lets pass what it would refuse.
pub fn dry_run(link: ChainLink, kinds: &[DryRunKind]) -> ChainLink {
    match link.about.dry_run {
        Some(kind) if kinds.contains(&kind) => ChainLink { middleware: Box::new(DryRunMiddleware(link.middleware)), ..link },
        _ => link,
    }
}

impl DryRunMiddleware {
    /// What becomes of the middleware's own step.
    fn judge(&self, step: Step, exchange: &mut Exchange<'_>) -> Step {
        match step {
            // Why there is no session has been told already.
            Step::Refuse(refusal) if refusal == refusal::SESSION_MISSING => Step::Next,
            Step::Refuse(refusal) | Step::RefuseUpstream(refusal) => {
                exchange.report_dry_run(&refusal);
                Step::Next
            }
            Step::Hold(hold) => hold.within(self, |this, then, exchange| {
                let step = then.go_on(&*this.0, exchange);
                this.judge(step, exchange)
            }),
            step => step,
        }
    }
}

impl Middleware for DryRunMiddleware {
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
        let step = self.0.on_request(exchange);
        self.judge(step, exchange)
    }
}
