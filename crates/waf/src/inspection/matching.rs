//! One rule in front of the values: which of them it looks at, whether its links match, and what a match changes.

use super::{EngineState, Inspection};
use crate::budget::TooMuchWork;
use crate::operator::number;
use crate::report::RuleMatch;
use crate::rule::{Effect, Rule, RuleLink};
use crate::source::ValueSource;
use crate::text::{MacroText, TextVariables};
use crate::value_class::ClassSet;
use crate::values::LookedAt;
use crate::variable::RuleTarget;
use std::sync::Arc;

/// Most names of values that a report lists for one rule.
const NAMES_MAX: usize = 8;
/// Most bytes of a name or message in a report.
const REPORTED_BYTES_MAX: usize = 200;
/// Most rules in a report; scores count all.
const MATCHES_MAX: usize = 64;

impl<'r> Inspection<'r> {
    pub(super) fn is_removed(&self, rule: &Rule) -> bool {
        self.known.removed.iter().any(|removed| removed.has(rule.id, &rule.tags))
            || self.profile.removes(&self.known.path, rule.id, &rule.tags)
    }

    /// Whether all links match.
    pub(super) fn run_rule(&mut self, rule: &'r Rule) -> Result<bool, TooMuchWork> {
        for source in [ValueSource::MatchedVars, ValueSource::MatchedVarsNames] {
            self.known.values.clear(source);
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
            return Ok(vec![self.known.values.transformed(looked, link.pipeline, &link.transformations, &mut self.budget)?]);
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
                let blind = if target.is_count { ClassSet::default() } else { link.blind };
                self.budget.look(self.known.values.count(*source, target.part, blind), 1)?;
                let values = self.known.values.of(*source, target.part, &target.selector, blind).into_iter();
                let values = values.filter(|looked| !self.is_hidden(rule, link, looked));
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
            || self.known.hidden.iter().any(|(rules, target)| selects(target) && rules.has(rule.id, &rule.tags))
            || self.profile.hides(&self.known.path, rule.id, &rule.tags, value)
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
        self.known.values.set(ValueSource::MatchedVar, &value);
        self.known.values.set(ValueSource::MatchedVarName, title.as_bytes());
        self.known.values.add(ValueSource::MatchedVars, title.as_bytes(), &value, &mut self.budget)?;
        self.known.values.add(ValueSource::MatchedVarsNames, title.as_bytes(), title.as_bytes(), &mut self.budget)?;
        if let Some(captures) = captures {
            for index in 0..10_usize {
                let name = index.to_string();
                match captures.get(index) {
                    Some(text) => self.known.values.set_variable(name.as_bytes(), text.clone(), &mut self.budget)?,
                    None => self.known.values.unset_variable(name.as_bytes()),
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
                    let before = self.known.values.variable(&name.expand(self)).map_or(0, |value| number(value));
                    let sum = if *subtracts { before.saturating_sub(amount) } else { before.saturating_add(amount) };
                    self.set(name, sum.to_string().into_bytes())?;
                }
                Effect::Unset(name) => {
                    let name = name.expand(self).into_owned();
                    self.known.values.unset_variable(&name);
                }
                Effect::RemoveRules(rules) => self.known.removed.push(rules.clone()),
                Effect::RemoveTarget(rules, target) => self.known.hidden.push((rules.clone(), target.clone())),
                Effect::BodyProcessor(processor) => self.known.values.set(ValueSource::BodyProcessor, processor.as_bytes()),
                Effect::ForceBodyVariable => self.is_body_forced = true,
                Effect::Engine { runs: false, .. } => self.known.engine = EngineState::Off,
                Effect::Engine { denies, .. } => self.known.engine = if *denies { EngineState::On } else { EngineState::Detects },
            }
        }
        Ok(())
    }

    fn set(&mut self, name: &MacroText, value: Vec<u8>) -> Result<(), TooMuchWork> {
        let name = name.expand(self).into_owned();
        if self.profile.is_pinned(&name) {
            return Ok(());
        }
        self.known.values.set_variable(&name, value, &mut self.budget)
    }
}

impl TextVariables for Inspection<'_> {
    fn first_value(&self, target: &RuleTarget) -> Vec<u8> {
        let of = |source: &ValueSource| self.known.values.of(*source, target.part, &target.selector, ClassSet::default());
        target.sources.iter().flat_map(of).next().map(|looked| looked.value.to_vec()).unwrap_or_default()
    }
}

pub(super) fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(REPORTED_BYTES_MAX);
    text.get(..end).unwrap_or_default().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
