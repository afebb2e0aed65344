//! The rules of one API on its requests and responses.

#[path = "rule_library.rs"]
mod rule_library;

use rule_library::CompiledRules;
pub use rule_library::RuleLibrary;
pub use tollgate_waf::InspectionMemory as RequestMemory;

use super::{InspectionJob, ResponseJob, WafFinding, WafOutcome};
use std::sync::Arc;
use tollgate_model::api::WafRules;
use tollgate_model::config::WafSettings;
use tollgate_observe::{WafFacts, WafMatch};
use tollgate_waf::{
    InspectedRequest, InspectedResponse, Inspection, InspectionBudget, InspectionReport, RuleExclusion, RuleMatch, RuleProfile,
    RuleSelection, TooMuchWork,
};

/// Work that a data thread has for one request, in bytes that rules read: about half a millisecond.
const HERE_STEPS_MAX: u64 = 100_000;

/// What inspects the requests of an API.
pub struct Firewall {
    rules: Arc<CompiledRules>,
    profile: RuleProfile,
    /// Work for one request, and for one response.
    steps_max: u64,
    inspects_responses: bool,
}

impl Firewall {
    /// Compiles the rules, unless another API has the same; or the place and the reason of what cannot be used.
    pub fn compile(library: &RuleLibrary, settings: &WafSettings, written: &WafRules) -> Result<Self, (String, String)> {
        let profile = profile(written)?;
        Ok(Firewall {
            rules: library.ruleset(settings, written)?,
            profile,
            steps_max: settings.work_max(),
            inspects_responses: written.responses,
        })
    }

    /// What the rules of its own have that does nothing.
    pub fn notes(&self) -> &[String] {
        &self.rules.notes
    }

    /// Inspects on a data thread; `None` if it takes more work than that has for it.
    pub fn inspect_briefly(&self, job: &InspectionJob) -> Option<WafFinding> {
        self.run(job, HERE_STEPS_MAX.min(self.steps_max)).ok()
    }

    /// Inspects within the whole budget.
    pub fn inspect(&self, job: &InspectionJob) -> WafFinding {
        self.run(job, self.steps_max).unwrap_or_else(|too_much| {
            let facts = WafFacts { fault: too_much.to_string(), ..WafFacts::default() };
            WafFinding { facts, outcome: WafOutcome::TooMuchWork, memory: None }
        })
    }

    /// The same for a response.
    pub fn inspect_response_briefly(&self, memory: &RequestMemory, job: &ResponseJob) -> Option<WafFinding> {
        self.run_response(memory, job, HERE_STEPS_MAX.min(self.steps_max)).ok()
    }

    /// The same for a response.
    pub fn inspect_response(&self, memory: &RequestMemory, job: &ResponseJob) -> WafFinding {
        self.run_response(memory, job, self.steps_max).unwrap_or_else(|_| {
            let facts = WafFacts { response_fault: "it takes too much work to inspect".to_owned(), ..WafFacts::default() };
            WafFinding { facts, outcome: WafOutcome::TooMuchWork, memory: None }
        })
    }

    fn run(&self, job: &InspectionJob, steps_max: u64) -> Result<WafFinding, TooMuchWork> {
        let request = InspectedRequest {
            method: job.method.as_bytes(),
            target: job.target.as_bytes(),
            protocol: job.protocol,
            headers: lines(&job.headers),
            body: job.inspected_body(),
            client: job.client,
            id: &job.id,
        };
        let mut inspection = Inspection::new(&self.rules.rules, &self.profile, InspectionBudget::new(steps_max));
        let report = inspection.request(&request, job.path.as_bytes())?;
        let mut found = finding(report, job.is_start());
        found.memory = if self.inspects_responses { inspection.into_memory() } else { None };
        Ok(found)
    }

    fn run_response(&self, memory: &RequestMemory, job: &ResponseJob, steps_max: u64) -> Result<WafFinding, TooMuchWork> {
        let (status, protocol, headers) = (job.status, job.protocol, lines(&job.headers));
        let response = InspectedResponse { status, protocol, headers, body: job.body.as_deref() };
        let budget = InspectionBudget::new(steps_max);
        let report = Inspection::go_on(&self.rules.rules, &self.profile, budget, memory.clone()).response(&response)?;
        let outcome = if report.denied_by.is_some() { WafOutcome::Denied } else { WafOutcome::Passes };
        let facts = WafFacts {
            response_score: report.outbound_score,
            denied_by: report.denied_by,
            matches: matches(report.matches),
            ..WafFacts::default()
        };
        Ok(WafFinding { facts, outcome, memory: None })
    }
}

fn lines(headers: &[(String, Vec<u8>)]) -> Vec<(&[u8], &[u8])> {
    headers.iter().map(|(name, value)| (name.as_bytes(), value.as_slice())).collect()
}

/// `is_start`: only the start of a body was inspected, which rarely fits its content type.
fn finding(report: InspectionReport, is_start: bool) -> WafFinding {
    let fault = report.body_fault.filter(|_| !is_start).unwrap_or_default();
    let outcome = match (report.denied_by, fault.is_empty()) {
        (Some(_), _) => WafOutcome::Denied,
        (None, false) => WafOutcome::BodyUnreadable,
        (None, true) => WafOutcome::Passes,
    };
    let (denied_by, matches) = (report.denied_by, matches(report.matches));
    let facts = WafFacts { score: report.inbound_score, denied_by, fault, matches, ..WafFacts::default() };
    WafFinding { facts, outcome, memory: None }
}

fn matches(found: Vec<RuleMatch>) -> Vec<WafMatch> {
    let told = |found: RuleMatch| WafMatch {
        rule: found.id,
        message: found.message,
        severity: found.severity,
        variables: found.variables,
    };
    found.into_iter().map(told).collect()
}

/// What the API wants of the rules.
fn profile(written: &WafRules) -> Result<RuleProfile, (String, String)> {
    let mut profile = RuleProfile::default();
    let level = i64::from(written.paranoia_level);
    profile.pin("blocking_paranoia_level", level);
    profile.pin("detection_paranoia_level", level);
    profile.pin("inbound_anomaly_score_threshold", written.inbound_threshold.into());
    profile.pin("outbound_anomaly_score_threshold", written.outbound_threshold.into());
    for (index, exclusion) in written.exclusions.iter().enumerate() {
        let at = format!("$.tollgate.waf.exclusions[{index}]");
        let ids = exclusion.rules.iter().map(|ids| RuleSelection::ids(ids));
        let ids = ids.collect::<Result<Vec<_>, _>>().map_err(|why| (format!("{at}.rules"), why))?;
        let tags = exclusion.tags.iter().cloned().map(RuleSelection::Tag);
        let rules = ids.into_iter().chain(tags).collect();
        let made = RuleExclusion::new(exclusion.paths.clone(), rules, &exclusion.parameters);
        profile.exclude(made.map_err(|why| (format!("{at}.parameters"), why))?);
    }
    Ok(profile)
}
