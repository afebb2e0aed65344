//! The rules of one API on its requests.

#[path = "rule_library.rs"]
mod rule_library;

pub use rule_library::RuleLibrary;

use super::{InspectionJob, WafFinding, WafOutcome};
use std::sync::Arc;
use tollgate_model::api::WafRules;
use tollgate_model::config::WafSettings;
use tollgate_observe::{WafFacts, WafMatch};
use tollgate_waf::{
    InspectedRequest, Inspection, InspectionBudget, InspectionReport, RuleExclusion, RuleProfile, RuleSelection, Ruleset,
    TooMuchWork,
};

/// Work that a data thread has for one request, in bytes that rules read: about half a millisecond.
const HERE_STEPS_MAX: u64 = 100_000;

/// What inspects the requests of an API.
pub struct Firewall {
    rules: Arc<Ruleset>,
    profile: RuleProfile,
    /// Work for one request.
    steps_max: u64,
}

impl Firewall {
    /// Compiles the rules, unless another API has the same; or the place and the reason of what cannot be used.
    pub fn compile(library: &RuleLibrary, settings: &WafSettings, written: &WafRules) -> Result<Self, (String, String)> {
        let profile = profile(written)?;
        Ok(Firewall { rules: library.ruleset(settings, written)?, profile, steps_max: settings.work_max() })
    }

    /// Inspects on a data thread; `None` if it takes more work than that has for it.
    pub fn inspect_briefly(&self, job: &InspectionJob) -> Option<WafFinding> {
        let report = self.run(job, HERE_STEPS_MAX.min(self.steps_max)).ok()?;
        Some(finding(report, job.is_start()))
    }

    /// Inspects within the whole budget.
    pub fn inspect(&self, job: &InspectionJob) -> WafFinding {
        match self.run(job, self.steps_max) {
            Ok(report) => finding(report, job.is_start()),
            Err(too_much) => {
                let facts = WafFacts { fault: too_much.to_string(), ..WafFacts::default() };
                WafFinding { facts, outcome: WafOutcome::TooMuchWork }
            }
        }
    }

    fn run(&self, job: &InspectionJob, steps_max: u64) -> Result<InspectionReport, TooMuchWork> {
        let request = InspectedRequest {
            method: job.method.as_bytes(),
            target: job.target.as_bytes(),
            protocol: job.protocol,
            headers: job.headers.iter().map(|(name, value)| (name.as_bytes(), value.as_slice())).collect(),
            body: job.inspected_body(),
            client: job.client,
            id: &job.id,
        };
        let inspection = Inspection::new(&self.rules, &self.profile, InspectionBudget::new(steps_max));
        inspection.request(&request, job.path.as_bytes())
    }
}

/// `is_start`: only the start of a body was inspected, which rarely fits its content type.
fn finding(report: InspectionReport, is_start: bool) -> WafFinding {
    let fault = report.body_fault.filter(|_| !is_start).unwrap_or_default();
    let outcome = match (report.denied_by, fault.is_empty()) {
        (Some(_), _) => WafOutcome::Denied,
        (None, false) => WafOutcome::BodyUnreadable,
        (None, true) => WafOutcome::Passes,
    };
    let matches = report.matches.into_iter().map(|found| WafMatch {
        rule: found.id,
        message: found.message,
        severity: found.severity,
        variables: found.variables,
    });
    let facts = WafFacts { score: report.inbound_score, denied_by: report.denied_by, fault, matches: matches.collect() };
    WafFinding { facts, outcome }
}

/// What the API wants of the rules.
fn profile(written: &WafRules) -> Result<RuleProfile, (String, String)> {
    let mut profile = RuleProfile::default();
    let level = i64::from(written.paranoia_level);
    profile.pin("blocking_paranoia_level", level);
    profile.pin("detection_paranoia_level", level);
    profile.pin("inbound_anomaly_score_threshold", written.inbound_threshold.into());
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
