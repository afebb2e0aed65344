//! A request in front of rules, and its response: phase by phase, rule by rule.

mod matching;

use crate::body::{self, BodyFault};
use crate::budget::{InspectionBudget, TooMuchWork};
use crate::operator::number;
use crate::profile::RuleProfile;
use crate::report::InspectionReport;
use crate::request::InspectedRequest;
use crate::response::InspectedResponse;
use crate::rule::{RuleSelection, Verdict};
use crate::ruleset::Ruleset;
use crate::source::ValueSource;
use crate::values::ValueStore;
use crate::variable::RuleTarget;
use matching::shortened;

/// The inspection of one request, or of its response.
pub struct Inspection<'r> {
    rules: &'r Ruleset,
    profile: &'r RuleProfile,
    budget: InspectionBudget,
    known: InspectionMemory,
    is_body_forced: bool,
    report: InspectionReport,
}

/// What rules about a response know of its request: its head, variables, and what rules were told to leave out.
#[derive(Debug, Clone, Default)]
pub struct InspectionMemory {
    values: ValueStore,
    /// The path that exclusions look at.
    path: Vec<u8>,
    removed: Vec<RuleSelection>,
    hidden: Vec<(RuleSelection, RuleTarget)>,
    engine: EngineState,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum EngineState {
    #[default]
    On,
    /// Rules run, and refuse nothing.
    Detects,
    /// No more rules run.
    Off,
}

impl<'r> Inspection<'r> {
    /// Begins the inspection of a request.
    pub fn new(rules: &'r Ruleset, profile: &'r RuleProfile, budget: InspectionBudget) -> Self {
        Inspection::go_on(rules, profile, budget, InspectionMemory::default())
    }

    /// Begins the inspection of a response. The rules and the profile are those of its request.
    pub fn go_on(rules: &'r Ruleset, profile: &'r RuleProfile, budget: InspectionBudget, known: InspectionMemory) -> Self {
        Inspection { rules, profile, budget, known, is_body_forced: false, report: InspectionReport::default() }
    }

    /// Runs the rules about requests. `path` is what the paths of exclusions are compared with.
    pub fn request(&mut self, request: &InspectedRequest<'_>, path: &[u8]) -> Result<InspectionReport, TooMuchWork> {
        self.known.path = path.to_vec();
        for (name, value) in &self.profile.pinned {
            self.known.values.set_variable(name.as_bytes(), value.clone().into_bytes(), &mut self.budget)?;
        }
        request.fill_head(&mut self.known.values, &mut self.budget)?;
        self.known.values.set(ValueSource::BodyError, b"0");
        self.run_phase(0)?;
        if self.is_running() {
            self.fill_body(request)?;
            self.run_phase(1)?;
        }
        Ok(self.finish())
    }

    /// Runs the rules about responses, and those that sum up.
    pub fn response(&mut self, response: &InspectedResponse<'_>) -> Result<InspectionReport, TooMuchWork> {
        response.fill_head(&mut self.known.values, &mut self.budget)?;
        self.run_phase(2)?;
        if self.is_running() {
            response.fill_body(&mut self.known.values, &mut self.budget)?;
            self.run_phase(3)?;
        }
        if self.known.engine != EngineState::Off {
            // It sums up what was denied, too.
            let denied_by = self.report.denied_by.take();
            self.run_phase(4)?;
            self.report.denied_by = denied_by;
        }
        Ok(self.finish())
    }

    /// What the inspection of the response needs; nothing if a rule has ended all inspection.
    pub fn into_memory(mut self) -> Option<InspectionMemory> {
        if self.known.engine == EngineState::Off {
            return None;
        }
        let (rules, profile) = (self.rules, self.profile);
        self.known.values.forget_body(|name| rules.lasting.contains(name) || profile.is_pinned(name));
        Some(self.known)
    }

    fn is_running(&self) -> bool {
        self.known.engine != EngineState::Off && self.report.denied_by.is_none()
    }

    fn fill_body(&mut self, request: &InspectedRequest<'_>) -> Result<(), TooMuchWork> {
        let content_type = request.header(b"content-type").unwrap_or_default();
        match body::fill(request.body, content_type, self.is_body_forced, &mut self.known.values, &mut self.budget) {
            Ok(()) => {}
            Err(BodyFault::TooMuchWork) => return Err(TooMuchWork),
            Err(BodyFault::Unreadable(why)) => {
                self.known.values.set(ValueSource::BodyError, b"1");
                self.known.values.set(ValueSource::BodyErrorMessage, why.as_bytes());
                self.report.body_fault = Some(shortened(&why));
            }
        }
        let parameters = [ValueSource::ArgsGet, ValueSource::ArgsPost].into_iter().flat_map(|source| {
            let pairs = self.known.values.pairs(source);
            pairs.map(|(name, value)| name.len() + value.len())
        });
        let size: usize = parameters.sum();
        self.known.values.set(ValueSource::ArgsCombinedSize, size.to_string().as_bytes());
        Ok(())
    }

    fn finish(&mut self) -> InspectionReport {
        let score = |name: &str| self.known.values.variable(name.as_bytes()).map_or(0, |value| number(value));
        self.report.inbound_score = score("blocking_inbound_anomaly_score");
        self.report.outbound_score = score("blocking_outbound_anomaly_score");
        self.report.steps = self.budget.spent();
        std::mem::take(&mut self.report)
    }

    fn run_phase(&mut self, phase: usize) -> Result<(), TooMuchWork> {
        let rules = self.rules;
        let Some(of_phase) = rules.by_phase.get(phase) else { return Ok(()) };
        let mut index = 0;
        while let Some(rule) = of_phase.get(index) {
            index += 1;
            if self.is_removed(rule) || !self.run_rule(rule)? {
                continue;
            }
            match rule.verdict {
                Verdict::Pass => {}
                Verdict::Deny if self.known.engine == EngineState::On => {
                    self.report.denied_by = Some(rule.id);
                    return Ok(());
                }
                Verdict::Deny => {}
                Verdict::AllowPhase => return Ok(()),
                Verdict::Allow => self.known.engine = EngineState::Off,
            }
            if self.known.engine == EngineState::Off {
                return Ok(());
            }
            index = rule.skip.next(index - 1, phase, rules);
        }
        Ok(())
    }
}
