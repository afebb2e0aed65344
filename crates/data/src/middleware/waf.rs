//! The web application firewall. Reads `tollgate.waf`. The client sees 403 for a request that the rules deny, 400 for a body that does not fit its
//! content type, and 413 for a request whose inspection takes more work than is allowed; in mode `detection` it passes, and is counted and recorded
//! all the same. Small requests are inspected where they are, within a brief budget; others are held while a thread for bodies inspects them.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::offload::{BodyThreads, OFFLOAD_TIME_MAX};
use crate::refusal;
use crate::waf::{Firewall, InspectedNote, InspectionJob, WafFinding, WafOutcome};
use std::sync::Arc;
use tollgate_http::Version;
use tollgate_model::api::{WafLargerBodies, WafMode};
use tollgate_offload::StartedOnce;

pub(super) struct Waf {
    firewall: Arc<Firewall>,
    mode: WafMode,
    body_bytes_max: usize,
    larger_bodies: WafLargerBodies,
    threads: Arc<StartedOnce<BodyThreads>>,
}

impl Waf {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let written = source.definition.tollgate.waf.as_ref().filter(|rules| rules.mode != WafMode::Off)?;
        let registry = source.context.registry;
        match Firewall::compile(&registry.rule_library, &source.context.settings.documents.waf, written) {
            Ok(firewall) => {
                for note in firewall.notes() {
                    // All versions of the API have the same.
                    if !source.context.problems.iter().any(|known| known.message == *note) {
                        source.context.warning("$.tollgate.waf", note.clone());
                    }
                }
                Some(Box::new(Waf {
                    firewall: Arc::new(firewall),
                    mode: written.mode,
                    body_bytes_max: written.body_max,
                    larger_bodies: written.larger_bodies,
                    threads: registry.body_threads.clone(),
                }))
            }
            Err((path, message)) => {
                // All versions of the API have the same.
                if !source.context.problems.iter().any(|known| known.path == path && known.message == message) {
                    source.context.error(path, message);
                }
                None
            }
        }
    }

    /// The body as far as it is read; `Err` is the step that holds or refuses the request.
    fn read_body(&self, exchange: &mut Exchange<'_>) -> Result<Arc<Vec<u8>>, Step> {
        if self.body_bytes_max == 0 {
            return Ok(Arc::default());
        }
        match self.larger_bodies {
            WafLargerBodies::Refuse => exchange.read_body_up_to(self.body_bytes_max)?,
            WafLargerBodies::InspectStart => exchange.read_body()?,
        }
        let body = exchange.shared_body();
        // The limit does not apply to what a plugin has made.
        if body.len() > self.body_bytes_max && self.larger_bodies == WafLargerBodies::Refuse {
            return Err(Step::Refuse(refusal::REQUEST_TOO_LARGE));
        }
        Ok(body)
    }

    fn job(&self, exchange: &Exchange<'_>, body: Arc<Vec<u8>>) -> InspectionJob {
        let (arrival, request) = (exchange.arrival, exchange.request);
        let lines = exchange.received().iter().map(|(name, value)| (name.to_owned(), value.to_vec()));
        let mut headers: Vec<(String, Vec<u8>)> = lines.collect();
        // HTTP/2 has it in another place.
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) && !request.authority.is_empty() {
            headers.push(("Host".to_owned(), request.authority.to_vec()));
        }
        InspectionJob {
            method: exchange.method.clone().into_owned(),
            target: exchange.uri(),
            protocol: protocol(exchange),
            headers,
            body,
            body_bytes_max: self.body_bytes_max,
            client: arrival.client_ip,
            id: arrival.request_id.to_string(),
            path: exchange.path_behind_listen().into_owned(),
        }
    }

    /// What becomes of an inspected request.
    fn judge(&self, exchange: &mut Exchange<'_>, finding: WafFinding) -> Step {
        let (facts, memory) = (finding.facts, finding.memory.map(Arc::new));
        let note = |memory| InspectedNote { firewall: self.firewall.clone(), memory, protocol: protocol(exchange) };
        exchange.notes.inspected = memory.map(note).map(Box::new);
        let refusal = match finding.outcome {
            WafOutcome::Passes => None,
            WafOutcome::Denied => Some(refusal::WAF_DENIED),
            WafOutcome::BodyUnreadable => Some(refusal::WAF_BODY_UNREADABLE),
            WafOutcome::TooMuchWork => Some(refusal::WAF_TOO_MUCH_WORK),
        };
        if let Some(refusal) = &refusal {
            let (api, cause, id) = (exchange.api.id.as_str(), refusal.cause, exchange.arrival.request_id);
            let (rules, score, fault, mode) = (facts.rules(), facts.score, facts.fault.as_str(), self.mode);
            tracing::warn!(api, cause, request_id = %id, rules, score, fault, ?mode, "the web application firewall denies a request");
        }
        if !facts.matches.is_empty() || !facts.fault.is_empty() {
            exchange.notes.waf.set(Some(Box::new(facts)));
        }
        match refusal {
            Some(refusal) if self.mode == WafMode::Enforcing => Step::Refuse(refusal),
            Some(refusal) => {
                exchange.count_dry_run(&refusal);
                Step::Next
            }
            None => Step::Next,
        }
    }
}

fn protocol(exchange: &Exchange<'_>) -> &'static str {
    match (exchange.arrival.http2, exchange.request.version) {
        (true, _) => "HTTP/2.0",
        (false, Version::Http11) => "HTTP/1.1",
        (false, Version::Http10) => "HTTP/1.0",
    }
}

impl Middleware for Waf {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let body = match self.read_body(exchange) {
            Ok(body) => body,
            Err(step) => return step,
        };
        let job = self.job(exchange, body);
        if job.is_small()
            && let Some(finding) = self.firewall.inspect_briefly(&job)
        {
            return self.judge(exchange, finding);
        }
        let Some(threads) = self.threads.get() else { return Step::Refuse(refusal::BODY_WORK_BUSY) };
        let firewall = self.firewall.clone();
        let inspected = threads.run(exchange.arrival.body_sender(), move || firewall.inspect(&job));
        Step::work(self, inspected, OFFLOAD_TIME_MAX, |this, exchange, finding| match finding {
            Some(finding) => this.judge(exchange, finding),
            None => Step::Refuse(refusal::BODY_WORK_BUSY),
        })
    }
}
