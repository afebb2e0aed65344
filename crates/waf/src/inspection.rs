//! A request in front of rules: phase by phase, rule by rule.

use crate::body::{self, BodyFault};
use crate::budget::{InspectionBudget, TooMuchWork};
use crate::operator::number;
use crate::profile::RuleProfile;
use crate::report::{InspectionReport, RuleMatch};
use crate::request::InspectedRequest;
use crate::rule::{Effect, Rule, RuleLink, RuleSelection, Verdict};
use crate::ruleset::Ruleset;
use crate::source::{Part, ValueSource};
use crate::text::{MacroText, TextVariables};
use crate::values::{LookedAt, ValueStore};
use crate::variable::{RuleTarget, Selector};
use std::sync::Arc;

/// Most names of values that a report lists for one rule.
const NAMES_MAX: usize = 8;
/// Most bytes of a name or message in a report.
const REPORTED_BYTES_MAX: usize = 200;
/// Most rules in a report; scores count all.
const MATCHES_MAX: usize = 64;

/// The inspection of one request.
pub struct Inspection<'r> {
    rules: &'r Ruleset,
    profile: &'r RuleProfile,
    budget: InspectionBudget,
    values: ValueStore,
    /// The path that exclusions look at.
    path: Vec<u8>,
    removed: Vec<&'r RuleSelection>,
    hidden: Vec<(&'r RuleSelection, &'r RuleTarget)>,
    is_body_forced: bool,
    engine: EngineState,
    report: InspectionReport,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EngineState {
    On,
    /// Rules run, and refuse nothing.
    Detects,
    /// No more rules run.
    Off,
}

impl<'r> Inspection<'r> {
    /// Begins an inspection.
    pub fn new(rules: &'r Ruleset, profile: &'r RuleProfile, budget: InspectionBudget) -> Self {
        Inspection {
            rules,
            profile,
            budget,
            values: ValueStore::default(),
            path: Vec::new(),
            removed: Vec::new(),
            hidden: Vec::new(),
            is_body_forced: false,
            engine: EngineState::On,
            report: InspectionReport::default(),
        }
    }

    /// Runs the rules about requests. `path` is what the paths of exclusions are compared with.
    pub fn request(mut self, request: &InspectedRequest<'_>, path: &[u8]) -> Result<InspectionReport, TooMuchWork> {
        self.path = path.to_vec();
        for (name, value) in &self.profile.pinned {
            self.values.set_variable(name.as_bytes(), value.clone().into_bytes(), &mut self.budget)?;
        }
        request.fill_head(&mut self.values, &mut self.budget)?;
        self.values.set(ValueSource::BodyError, b"0");
        self.run_phase(0)?;
        if self.is_running() {
            self.fill_body(request)?;
            self.run_phase(1)?;
        }
        Ok(self.finish())
    }

    fn is_running(&self) -> bool {
        self.engine != EngineState::Off && self.report.denied_by.is_none()
    }

    fn fill_body(&mut self, request: &InspectedRequest<'_>) -> Result<(), TooMuchWork> {
        let content_type = request.header(b"content-type").unwrap_or_default();
        match body::fill(request.body, content_type, self.is_body_forced, &mut self.values, &mut self.budget) {
            Ok(()) => {}
            Err(BodyFault::TooMuchWork) => return Err(TooMuchWork),
            Err(BodyFault::Unreadable(why)) => {
                self.values.set(ValueSource::BodyError, b"1");
                self.values.set(ValueSource::BodyErrorMessage, why.as_bytes());
                self.report.body_fault = Some(shortened(&why));
            }
        }
        let parameters = [ValueSource::ArgsGet, ValueSource::ArgsPost].into_iter().flat_map(|source| {
            let values = self.values.of(source, Part::Value, None);
            values.into_iter().map(|looked| looked.name.len() + looked.value.len())
        });
        let size: usize = parameters.sum();
        self.values.set(ValueSource::ArgsCombinedSize, size.to_string().as_bytes());
        Ok(())
    }

    fn finish(mut self) -> InspectionReport {
        let score = |name: &str| self.values.variable(name.as_bytes()).map_or(0, |value| number(value));
        self.report.inbound_score = score("blocking_inbound_anomaly_score");
        self.report.outbound_score = score("blocking_outbound_anomaly_score");
        self.report.steps = self.budget.spent();
        self.report
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
                Verdict::Deny if self.engine == EngineState::On => {
                    self.report.denied_by = Some(rule.id);
                    return Ok(());
                }
                Verdict::Deny => {}
                Verdict::AllowPhase => return Ok(()),
                Verdict::Allow => self.engine = EngineState::Off,
            }
            if self.engine == EngineState::Off {
                return Ok(());
            }
            index = rule.skip.next(index - 1, phase, rules);
        }
        Ok(())
    }

    fn is_removed(&self, rule: &Rule) -> bool {
        self.removed.iter().any(|removed| removed.has(rule.id, &rule.tags)) || self.profile.removes(&self.path, rule.id, &rule.tags)
    }

    /// Whether all links match.
    fn run_rule(&mut self, rule: &'r Rule) -> Result<bool, TooMuchWork> {
        for source in [ValueSource::MatchedVars, ValueSource::MatchedVarsNames] {
            self.values.clear(source);
        }
        let mut names: Vec<String> = Vec::new();
        for link in &rule.links {
            if !self.run_link(rule, link, &mut names)? {
                return Ok(false);
            }
        }
        if rule.is_logged && self.report.matches.len() < MATCHES_MAX {
            let message = String::from_utf8_lossy(&rule.message.expand(self)).into_owned();
            let (message, severity) = (shortened(&message), rule.severity.clone());
            self.report.matches.push(RuleMatch { id: rule.id, message, severity, variables: names });
        }
        Ok(true)
    }

    fn run_link(&mut self, rule: &'r Rule, link: &'r RuleLink, names: &mut Vec<String>) -> Result<bool, TooMuchWork> {
        if link.targets.looked_at.is_empty() {
            // An action without a condition.
            self.apply(link)?;
            return Ok(true);
        }
        let mut matches = false;
        for looked in self.looked_at(rule, link)? {
            for value in self.stages(&looked, link)? {
                let mut budget = self.budget.clone();
                let found = link.operator.fits(&value, link.captures, self, &mut budget);
                self.budget = budget;
                let found = found?;
                if found.is_some() == link.is_negated {
                    continue;
                }
                matches = true;
                self.note_match(&looked, value, found.filter(|_| link.captures), names)?;
                self.apply(link)?;
            }
        }
        Ok(matches)
    }

    /// The value behind all transformations; with `multiMatch` also before and between them, where they change it.
    fn stages(&mut self, looked: &LookedAt, link: &RuleLink) -> Result<Vec<Arc<[u8]>>, TooMuchWork> {
        if !link.is_multi_match {
            return Ok(vec![self.values.transformed(looked, link.pipeline, &link.transformations, &mut self.budget)?]);
        }
        let mut stages = vec![looked.value.clone()];
        for transformation in &link.transformations {
            let Some(last) = stages.last() else { break };
            self.budget.look(last.len(), 1)?;
            let made = transformation.apply(last);
            if made.as_ref() != last.as_ref() {
                let made: Arc<[u8]> = made.into_owned().into();
                stages.push(made);
            }
        }
        Ok(stages)
    }

    /// The values that a link looks at, without those that are excluded.
    fn looked_at(&mut self, rule: &Rule, link: &RuleLink) -> Result<Vec<LookedAt>, TooMuchWork> {
        let mut found = Vec::new();
        for target in &link.targets.looked_at {
            let mut count = 0;
            for source in target.sources {
                self.budget.look(self.values.count(*source), 1)?;
                let named = match &target.selector {
                    Selector::Named(name) => Some(name.as_str()),
                    Selector::All | Selector::Matching(_) => None,
                };
                let values = self.values.of(*source, target.part, named).into_iter();
                let values = values.filter(|looked| target.selector.fits(&looked.name) && !self.is_hidden(rule, link, looked));
                let before = found.len();
                found.extend(values);
                if target.is_count {
                    count += found.len() - before;
                    found.truncate(before);
                }
            }
            if let Some(source) = target.sources.first().filter(|_| target.is_count) {
                found.push(LookedAt::count(*source, count));
            }
        }
        Ok(found)
    }

    fn is_hidden(&self, rule: &Rule, link: &RuleLink, looked: &LookedAt) -> bool {
        let value = (looked.source, looked.part, looked.name.as_ref());
        let selects = |target: &RuleTarget| target.selects(value.0, value.1, value.2);
        link.targets.excluded.iter().any(selects)
            || self.hidden.iter().any(|(rules, target)| selects(target) && rules.has(rule.id, &rule.tags))
            || self.profile.hides(&self.path, rule.id, &rule.tags, value)
    }

    fn note_match(
        &mut self,
        looked: &LookedAt,
        value: Arc<[u8]>,
        captures: Option<Vec<Vec<u8>>>,
        names: &mut Vec<String>,
    ) -> Result<(), TooMuchWork> {
        let title = looked.title();
        self.budget.keep(value.len() + title.len())?;
        self.values.set(ValueSource::MatchedVar, &value);
        self.values.set(ValueSource::MatchedVarName, title.as_bytes());
        self.values.add(ValueSource::MatchedVars, title.as_bytes(), &value, &mut self.budget)?;
        self.values.add(ValueSource::MatchedVarsNames, title.as_bytes(), title.as_bytes(), &mut self.budget)?;
        if let Some(captures) = captures {
            for index in 0..10_usize {
                let name = index.to_string();
                match captures.get(index) {
                    Some(text) => self.values.set_variable(name.as_bytes(), text.clone(), &mut self.budget)?,
                    None => self.values.unset_variable(name.as_bytes()),
                }
            }
        }
        let title = shortened(&title);
        if looked.source != ValueSource::Tx && names.len() < NAMES_MAX && !names.contains(&title) {
            names.push(title);
        }
        Ok(())
    }

    fn apply(&mut self, link: &'r RuleLink) -> Result<(), TooMuchWork> {
        for effect in &link.effects {
            match effect {
                Effect::Set(name, value) => {
                    let value = value.expand(self).into_owned();
                    self.set(name, value)?;
                }
                Effect::Add(name, amount, subtracts) => {
                    let amount = number(&amount.expand(self));
                    let before = self.values.variable(&name.expand(self)).map_or(0, |value| number(value));
                    let sum = if *subtracts { before.saturating_sub(amount) } else { before.saturating_add(amount) };
                    self.set(name, sum.to_string().into_bytes())?;
                }
                Effect::Unset(name) => {
                    let name = name.expand(self).into_owned();
                    self.values.unset_variable(&name);
                }
                Effect::RemoveRules(rules) => self.removed.push(rules),
                Effect::RemoveTarget(rules, target) => self.hidden.push((rules, target)),
                Effect::BodyProcessor(processor) => self.values.set(ValueSource::BodyProcessor, processor.as_bytes()),
                Effect::ForceBodyVariable => self.is_body_forced = true,
                Effect::Engine { runs: false, .. } => self.engine = EngineState::Off,
                Effect::Engine { denies, .. } => self.engine = if *denies { EngineState::On } else { EngineState::Detects },
            }
        }
        Ok(())
    }

    fn set(&mut self, name: &MacroText, value: Vec<u8>) -> Result<(), TooMuchWork> {
        let name = name.expand(self).into_owned();
        if self.profile.is_pinned(&name) {
            return Ok(());
        }
        self.values.set_variable(&name, value, &mut self.budget)
    }
}

impl TextVariables for Inspection<'_> {
    fn first_value(&self, target: &RuleTarget) -> Vec<u8> {
        let named = match &target.selector {
            Selector::Named(name) => Some(name.as_str()),
            Selector::All | Selector::Matching(_) => None,
        };
        let mut values = target.sources.iter().flat_map(|source| self.values.of(*source, target.part, named));
        let found = values.find(|looked| target.selector.fits(&looked.name));
        found.map(|looked| looked.value.to_vec()).unwrap_or_default()
    }
}

fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(REPORTED_BYTES_MAX);
    text.get(..end).unwrap_or_default().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
