//! Triggers of rewrites: conditions on headers, query, path, metadata, context and body, and the texts that they capture. As in Tyk, a
//! condition needs a value: what is absent holds for no condition, whether it is reversed or not.

use crate::exchange::Exchange;
use crate::header_names::{HeaderNames, canonical_name};
use crate::template::{ContextVariable, VariableScope};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use tollgate_http::form::values;
use tollgate_model::api::{TextMatch, Trigger, TriggerMode};
use tollgate_pattern::{GroupExpression, PatternPool};

/// Most matches in a body that are captured: what bounds the search of a body that consists of matches.
const BODY_MATCHES_MAX: usize = 128;
/// What the names of captures start with.
const CAPTURED: &str = "trigger-";

/// The names of the captures that the definition uses; others are not kept.
#[derive(Clone, Debug, Default)]
pub(super) struct WantedCaptures(BTreeSet<String>);

/// Captures of the triggers, by name.
pub(super) struct Captured<'w> {
    wanted: &'w WantedCaptures,
    texts: Map<String, Value>,
}

/// A trigger as it runs.
pub(super) struct CompiledTrigger {
    number: usize,
    any: bool,
    headers: Vec<Condition>,
    parameters: Vec<Condition>,
    path_parts: Vec<Condition>,
    meta: Vec<Condition>,
    context: Vec<(ContextVariable, Condition)>,
    /// Condition on the body.
    payload: Option<Condition>,
}

struct Condition {
    name: String,
    pattern: GroupExpression,
    reverse: bool,
}

impl WantedCaptures {
    /// The captures that a text refers to.
    pub(super) fn of(text: &str) -> Self {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name = |(at, _): (usize, &str)| text.get(at..)?.split(|c| !is_name(c)).next().map(str::to_owned);
        WantedCaptures(text.match_indices(CAPTURED).filter_map(name).collect())
    }

    /// Adds the captures that another text refers to.
    pub(super) fn extend(&mut self, other: WantedCaptures) {
        self.0.extend(other.0);
    }

    /// Whether a name, or one that continues it, is wanted.
    fn has_start(&self, start: &str) -> bool {
        self.0.range(start.to_owned()..).next().is_some_and(|name| name.starts_with(start))
    }
}

impl<'w> Captured<'w> {
    pub(super) fn new(wanted: &'w WantedCaptures) -> Self {
        Captured { wanted, texts: Map::new() }
    }

    /// A captured text; empty if there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.texts.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// All of them, as variables of the request; `None` without any.
    pub(super) fn into_variables(self) -> Option<Map<String, Value>> {
        Some(self.texts).filter(|texts| !texts.is_empty())
    }

    fn put(&mut self, name: &str, text: &str) {
        if self.wanted.0.contains(name) {
            self.texts.insert(name.to_owned(), text.into());
        }
    }
}

impl CompiledTrigger {
    /// Compiles a trigger; `Err` is the field and the reason.
    pub(super) fn new(
        number: usize,
        trigger: &Trigger,
        scope: VariableScope<'_>,
        pool: &PatternPool,
    ) -> Result<Self, (String, String)> {
        let options = &trigger.options;
        let compile = |field: &str, matches: &BTreeMap<String, TextMatch>| -> Result<Vec<Condition>, (String, String)> {
            let fail = |error| (format!("triggers[{number}].options.{field}"), error);
            matches.iter().map(|(name, text)| Condition::new(name, text, pool).map_err(fail)).collect()
        };
        let mut headers = compile("header_matches", &options.header_matches)?;
        headers.iter_mut().for_each(|condition| condition.name = canonical_name(&condition.name));
        let context = compile("request_context_matches", &options.request_context_matches)?.into_iter();
        let payload = Some(&options.payload_matches).filter(|text| !text.match_rx.is_empty());
        let payload = payload.map(|text| Condition::new("payload", text, pool)).transpose();
        Ok(CompiledTrigger {
            number,
            any: trigger.on == TriggerMode::Any,
            headers,
            parameters: compile("query_val_matches", &options.query_val_matches)?,
            path_parts: compile("path_part_matches", &options.path_part_matches)?,
            meta: compile("session_meta_matches", &options.session_meta_matches)?,
            context: context.map(|condition| (ContextVariable::new(&condition.name, scope), condition)).collect(),
            payload: payload.map_err(|error| (format!("triggers[{number}].options.payload_matches"), error))?,
        })
    }

    /// Whether the trigger needs the request's body.
    pub(super) fn reads_body(&self) -> bool {
        self.payload.is_some()
    }

    /// Adds the request headers that the conditions read.
    pub(super) fn header_names(&self, names: &mut HeaderNames) {
        self.headers.iter().for_each(|condition| names.add(&condition.name));
        self.context.iter().for_each(|(variable, _)| variable.header_names(names));
    }

    /// Whether the trigger's conditions hold, kind by kind: with `all` every kind that has conditions, with `any` the first one of them. The
    /// same rule applies within a kind.
    pub(super) fn fires(&self, exchange: &Exchange<'_>, captured: &mut Captured<'_>) -> bool {
        let kinds = [Self::headers, Self::parameters, Self::path_parts, Self::meta, Self::context, Self::payload];
        let mut all = true;
        for held in kinds.iter().filter_map(|kind| kind(self, exchange, captured)) {
            if self.any && held {
                return true;
            }
            all &= held;
        }
        !self.any && all
    }

    /// Whether so many of a kind's conditions hold that the kind does; `None` without conditions.
    fn judge<C>(&self, conditions: &[C], mut holds: impl FnMut(&C) -> bool) -> Option<bool> {
        if conditions.is_empty() {
            return None;
        }
        // All are tried: each captures.
        let held = conditions.iter().filter(|condition| holds(condition)).count();
        Some(if self.any { held > 0 } else { held == conditions.len() })
    }

    fn headers(&self, exchange: &Exchange<'_>, captured: &mut Captured<'_>) -> Option<bool> {
        self.judge(&self.headers, |condition| {
            let own = exchange.received().iter().filter(|(name, _)| name.eq_ignore_ascii_case(&condition.name));
            let values = own.enumerate().map(|(index, (_, value))| (index, String::from_utf8_lossy(value)));
            condition.holds_for_list(self.number, values, captured)
        })
    }

    fn parameters(&self, exchange: &Exchange<'_>, captured: &mut Captured<'_>) -> Option<bool> {
        self.judge(&self.parameters, |condition| {
            let values = exchange.query().into_iter().flat_map(|query| values(query, &condition.name)).enumerate();
            condition.holds_for_list(self.number, values, captured)
        })
    }

    /// Parts are numbered by the matches so far, of all conditions of the trigger.
    fn path_parts(&self, exchange: &Exchange<'_>, captured: &mut Captured<'_>) -> Option<bool> {
        let mut matches = 0;
        self.judge(&self.path_parts, |condition| {
            let before = matches;
            for part in exchange.url.path.decoded.split('/') {
                matches += usize::from(condition.holds_for_list(self.number, [(matches, part)], captured));
            }
            matches > before
        })
    }

    fn meta(&self, exchange: &Exchange<'_>, captured: &mut Captured<'_>) -> Option<bool> {
        self.judge(&self.meta, |condition| {
            let value = exchange.caller.meta_data().and_then(|meta| meta.get(&condition.name)).and_then(Value::as_str);
            value.is_some_and(|value| condition.holds(&condition.key(self.number), value, captured))
        })
    }

    fn context(&self, exchange: &Exchange<'_>, captured: &mut Captured<'_>) -> Option<bool> {
        self.judge(&self.context, |(variable, condition)| {
            let earlier = captured.texts.get(&condition.name).and_then(Value::as_str).map(str::to_owned);
            let value = earlier.or_else(|| variable.text(exchange));
            value.is_some_and(|value| condition.holds(&condition.key(self.number), &value, captured))
        })
    }

    fn payload(&self, exchange: &Exchange<'_>, captured: &mut Captured<'_>) -> Option<bool> {
        let body = || String::from_utf8_lossy(exchange.body());
        self.payload.as_ref().map(|payload| payload.holds_for_body(self.number, &body(), captured))
    }
}

impl Condition {
    fn new(name: &str, text: &TextMatch, pool: &PatternPool) -> Result<Self, String> {
        let pattern = pool.with_groups(&text.match_rx)?;
        Ok(Condition { name: name.to_owned(), pattern, reverse: text.reverse })
    }

    /// The name of the condition's captures.
    fn key(&self, number: usize) -> String {
        format!("{CAPTURED}{number}-{}", self.name)
    }

    /// Whether the condition holds for a value. Its match is captured as `key`, its groups as `key-<group>`.
    fn holds(&self, key: &str, value: &str, captured: &mut Captured<'_>) -> bool {
        if self.reverse || !captured.wanted.has_start(key) {
            return self.pattern.is_match(value) != self.reverse;
        }
        let Some(groups) = self.pattern.groups(value) else { return false };
        capture(key, groups.iter(), captured);
        true
    }

    /// Whether the condition holds for one of several values. Each match is captured under its value's number.
    fn holds_for_list(
        &self,
        number: usize,
        values: impl IntoIterator<Item = (usize, impl AsRef<str>)>,
        captured: &mut Captured<'_>,
    ) -> bool {
        let key = self.key(number);
        let mut held = false;
        for (index, value) in values {
            held |= self.holds(&format!("{key}-{index}"), value.as_ref(), captured);
        }
        held
    }

    /// Whether the condition holds for a body. Each match is captured under its number, the first one also without it.
    fn holds_for_body(&self, number: usize, body: &str, captured: &mut Captured<'_>) -> bool {
        let key = self.key(number);
        if self.reverse || !captured.wanted.has_start(&key) {
            return self.pattern.is_match(body) != self.reverse;
        }
        let mut found = false;
        for (index, groups) in self.pattern.all_groups(body).take(BODY_MATCHES_MAX).enumerate() {
            if !found {
                captured.put(&key, groups.get(0).unwrap_or_default());
            }
            found = true;
            capture(&format!("{key}-{index}"), groups.iter(), captured);
        }
        found
    }
}

fn capture<'t>(key: &str, groups: impl Iterator<Item = &'t str>, captured: &mut Captured<'_>) {
    for (group, text) in groups.enumerate() {
        match group.checked_sub(1) {
            None => captured.put(key, text),
            Some(group) => captured.put(&format!("{key}-{group}"), text),
        }
    }
}
