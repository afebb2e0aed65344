//! Limits of an organisation's session, which all its APIs share. Reads `org_id` and the gateway's `enforce_org_quotas`; an organisation
//! without a session is not limited. The client sees 403 in Tyk's words: the organisation is disabled, or over its rate or its quota.

use super::key_limits::limit_fact;
use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::quota_monitor::QuotaMonitor;
use crate::refusal::{self, Refusal};
use std::sync::Arc;
use tollgate_access::keys::{Checks, Key, LimitRejection};
use tollgate_clock::Pending;
use tollgate_observe::LimitFact;

pub(super) struct OrgLimits {
    org_id: String,
    monitor: Option<Arc<QuotaMonitor>>,
}

/// Verdict on a request.
enum OrgVerdict {
    Pass,
    WouldRefuse(Refusal),
    Refuse(Refusal),
    /// The shared store must answer first.
    Hold(Option<Pending<()>>),
}

impl OrgLimits {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let org_id = source.definition.org_id.clone();
        let applies = source.context.settings.callers.enforce_org_quotas && !org_id.is_empty();
        let monitor = source.context.settings.callers.quota_monitor.clone().filter(|monitor| monitor.watches_orgs);
        applies.then(|| Box::new(OrgLimits { org_id, monitor }) as Box<dyn Middleware>)
    }
}

impl Middleware for OrgLimits {
    fn limit_of(&self, exchange: &Exchange<'_>, refusal: &Refusal) -> Option<LimitFact> {
        let is_quota = *refusal == refusal::ORG_QUOTA;
        let is_limit = is_quota || *refusal == refusal::ORG_RATE_LIMIT;
        let fact = |org: &Key| limit_fact(exchange, org, "org", is_quota);
        exchange.arrival.keys.with_org(&self.org_id, |org| is_limit.then(|| fact(org)).flatten())?
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.skips_limits {
            return Step::Next;
        }
        match exchange.arrival.keys.with_org(&self.org_id, |org| self.outcome(org, exchange)) {
            None | Some(OrgVerdict::Pass) => Step::Next,
            Some(OrgVerdict::WouldRefuse(refusal)) => {
                exchange.report_dry_run(&refusal);
                Step::Next
            }
            Some(OrgVerdict::Refuse(refusal)) => Step::Refuse(refusal),
            Some(OrgVerdict::Hold(pending)) => exchange.hold_for_limits(pending),
        }
    }
}

impl OrgLimits {
    fn outcome(&self, org: &Key, exchange: &Exchange<'_>) -> OrgVerdict {
        if org.session.is_inactive {
            return OrgVerdict::Refuse(refusal::ORG_DISABLED);
        }
        let limits = exchange.limits_of(org);
        match limits.admit(exchange.arrival.now, exchange.arrival.unix_s, Checks::ALL, org.dry_run, exchange.patience()) {
            Ok(None) => {
                // As in Tyk, the event names the organisation and no key.
                self.monitor
                    .iter()
                    .for_each(|monitor| monitor.look(org, &self.org_id, &limits, exchange.arrival.unix_s, String::new));
                OrgVerdict::Pass
            }
            Err(LimitRejection::Asked) => OrgVerdict::Hold(limits.pending()),
            Ok(Some(rejection)) => OrgVerdict::WouldRefuse(refusal_of(rejection)),
            Err(rejection) => OrgVerdict::Refuse(refusal_of(rejection)),
        }
    }
}

fn refusal_of(rejection: LimitRejection) -> Refusal {
    match rejection {
        LimitRejection::Rate(_) => refusal::ORG_RATE_LIMIT,
        LimitRejection::Quota => refusal::ORG_QUOTA,
        LimitRejection::Asked | LimitRejection::Silent => refusal::STORE_SILENT,
    }
}
