//! Checks whether the key may call this API, version and endpoint. Reads the session's `access_rights`. The client sees 403 `Access to this
//! API has been disallowed` or `Access to this resource has been disallowed`; in dry run a header says so instead.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::refusal::{self, Refusal};
use std::time::Duration;
use tollgate_access::keys::Permission;
use tollgate_clock::Pending;

/// How long a request waits for the compile thread before it compiles the patterns itself. Fifty patterns take a millisecond.
const COMPILE_TIME_MAX: Duration = Duration::from_secs(1);

pub(super) struct AccessRights {
    /// Whether patterns are also tried on the path after the listen path.
    prefix_matching: bool,
}

impl AccessRights {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let prefix_matching = source.context.settings.routing.patterns.prefix;
        (!source.definition.use_keyless).then(|| Box::new(AccessRights { prefix_matching }) as Box<dyn Middleware>)
    }

    /// The answer about a key's patterns that no request has used yet.
    fn unprepared(exchange: &Exchange<'_>) -> Option<Pending<()>> {
        let Permission::Right(right) = exchange.caller.key.as_ref()?.right(&exchange.api.id) else { return None };
        let lists = right.unprepared();
        (!lists.is_empty()).then(|| exchange.arrival.keys.patterns().prepare(lists))
    }

    fn check(&self, exchange: &mut Exchange<'_>) -> Step {
        match self.refusal(exchange) {
            None => Step::Next,
            Some(refusal) if exchange.caller.key.as_ref().is_some_and(|key| key.dry_run.access) => {
                exchange.report_dry_run(&refusal);
                Step::Next
            }
            Some(refusal) => Step::Refuse(refusal),
        }
    }

    fn refusal(&self, exchange: &Exchange<'_>) -> Option<Refusal> {
        let right = match exchange.caller.key.as_ref()?.right(&exchange.api.id) {
            Permission::Everything => return None,
            Permission::Nothing => return Some(refusal::API_DISALLOWED),
            Permission::Right(right) => right,
        };
        if exchange.version_name().is_some_and(|name| !right.has_version(name)) {
            return Some(refusal::API_DISALLOWED);
        }
        if right.has_all_endpoints() {
            return None;
        }
        let whole = exchange.url.path.decoded.as_ref();
        let behind = exchange.path_behind_listen();
        let forms = [whole, behind.as_ref()];
        let forms = if self.prefix_matching { forms.as_slice() } else { forms.get(..1).unwrap_or_default() };
        let allowed = right.allows(&exchange.method, forms);
        (!allowed).then_some(refusal::RESOURCE_DISALLOWED)
    }
}

impl Middleware for AccessRights {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        match Self::unprepared(exchange) {
            // A request waits once: after that time, it compiles the patterns itself.
            Some(prepared) => Step::ask(self, prepared, COMPILE_TIME_MAX, |this, exchange, _| this.check(exchange)),
            None => self.check(exchange),
        }
    }
}
