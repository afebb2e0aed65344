//! Looks for what guards do not want in the texts of an answer, and puts back what was taken out of its request.

use super::Guard;
use super::hold::{HOLD_BYTES_MAX, Hold};
use super::placeholders::{Placeholders, begun_placeholder, placeholder, placeholders_in};
use super::refusal::{self, Refused};
use super::terms::GuardCheck;
use std::ops::Range;
use std::sync::Arc;
use tollgate_llm::TextKind;
use tollgate_model::api::GuardAction;

/// Scans the texts of one answer.
pub(crate) struct Scanner {
    api: String,
    guards: Vec<Arc<Guard>>,
    hold: Option<Arc<Hold>>,
    placeholders: Arc<Placeholders>,
    /// Bytes of text so far.
    bytes: u64,
    /// Which guards have found something: each tells it once.
    found: Vec<bool>,
}

/// What is left of a text that goes on.
#[derive(Debug, Default)]
pub(crate) struct TextState {
    /// The last letter that went on, which says whether a word begins.
    before: String,
    /// What waits.
    held: String,
}

impl TextState {
    pub(crate) fn holds(&self) -> bool {
        !self.held.is_empty()
    }
}

/// A place in a text, and what comes there.
struct Change {
    range: Range<usize>,
    text: String,
    takes_out: bool,
}

impl Scanner {
    pub(crate) fn new(api: &str, guards: Vec<Arc<Guard>>, hold: Option<Arc<Hold>>, placeholders: Arc<Placeholders>) -> Self {
        let found = vec![false; guards.len()];
        Scanner { api: api.to_owned(), guards, hold, placeholders, bytes: 0, found }
    }

    /// Counts bytes of text.
    pub(crate) fn count(&mut self, bytes: usize) -> Result<(), Refused> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        for at in 0..self.guards.len() {
            let Some(guard) = self.guards.get(at).cloned() else { break };
            if let GuardCheck::Size { bytes_max, tokens_max } = guard.terms.check
                && is_larger(self.bytes, bytes_max, tokens_max)
                && self.finds(at, &guard)
                && guard.refuses()
            {
                let fault = refusal::told(&guard, "answer", ": it is too long");
                return Err(Refused { guard, fault });
            }
        }
        Ok(())
    }

    /// What of a text goes on now that there is more of it, or all (`is_last`).
    pub(crate) fn advance(&mut self, state: &mut TextState, more: &str, kind: TextKind, is_last: bool) -> Result<String, Refused> {
        let text = format!("{}{}{more}", state.before, state.held);
        let from = state.before.len();
        let least = text.floor_char_boundary(text.len().saturating_sub(HOLD_BYTES_MAX)).max(from);
        let until = if is_last { text.len() } else { self.holds_from(&text, from, kind).max(least) };
        let mut changes = self.unwanted(&text, from, until, kind)?;
        if kind != TextKind::Thought && !self.placeholders.is_empty() {
            changes.extend(self.put_back(&text, from..until, kind));
        }
        changes.sort_by_key(|change| change.range.start);
        let until = settled(&changes, until, least);
        let (mut out, mut at) = (String::new(), from);
        for Change { range, text: new, takes_out } in changes.iter().filter(|change| change.range.start < until) {
            // Of two that overlap, the second one takes out what is left of it.
            if range.start >= at || (*takes_out && range.end > at) {
                out.push_str(text.get(at..range.start).unwrap_or_default());
                out.push_str(new);
                at = range.end;
            }
        }
        let until = until.max(at);
        out.push_str(text.get(at..until).unwrap_or_default());
        let last = text.get(..until).and_then(|gone| gone.chars().next_back());
        state.before = last.map(String::from).unwrap_or_default();
        state.held = text.get(until..).unwrap_or_default().to_owned();
        Ok(out)
    }

    /// From where on a text must wait for more.
    fn holds_from(&self, text: &str, from: usize, kind: TextKind) -> usize {
        let match_begins = self.hold.as_ref().map_or(text.len(), |hold| hold.begins(text, from));
        let puts_back = kind != TextKind::Thought && !self.placeholders.is_empty();
        let placeholder_begins = if puts_back { begun_placeholder(text) } else { text.len() };
        match_begins.min(placeholder_begins)
    }

    /// What guards do not want that begins before `until`.
    fn unwanted(&mut self, text: &str, from: usize, until: usize, kind: TextKind) -> Result<Vec<Change>, Refused> {
        let mut changes = Vec::new();
        for at in 0..self.guards.len() {
            let Some(guard) = self.guards.get(at).cloned() else { break };
            let GuardCheck::Patterns(patterns) = &guard.terms.check else { continue };
            for pattern in patterns {
                for range in pattern.find_from(text, from).take_while(|range| range.start < until) {
                    if !self.finds(at, &guard) {
                        break;
                    }
                    match guard.terms.action {
                        GuardAction::Refuse => {
                            let fault = refusal::told(&guard, "answer", "");
                            return Err(Refused { guard: guard.clone(), fault });
                        }
                        GuardAction::Redact if kind != TextKind::Thought => {
                            changes.push(Change { range, text: placeholder(pattern.label(), None), takes_out: true });
                        }
                        GuardAction::Redact | GuardAction::Report => {}
                    }
                }
            }
        }
        Ok(changes)
    }

    /// Notes that a guard has found something. True if it acts.
    fn finds(&mut self, at: usize, guard: &Guard) -> bool {
        if let Some(found) = self.found.get_mut(at)
            && !std::mem::replace(found, true)
        {
            return guard.matches(&self.api, "answer");
        }
        !guard.terms.dry_run
    }

    /// Notes that a guard of another kind has found something. True if it acts.
    pub(crate) fn matches(&self, guard: &Guard) -> bool {
        guard.matches(&self.api, "answer")
    }

    fn put_back<'a>(&'a self, text: &'a str, within: Range<usize>, kind: TextKind) -> impl Iterator<Item = Change> + 'a {
        let within = placeholders_in(text).filter(move |range| within.contains(&range.start));
        within.filter_map(move |range| {
            let original = self.placeholders.text_of(text.get(range.clone())?)?;
            let text = match kind {
                TextKind::Arguments => escaped(original),
                TextKind::Text | TextKind::Thought => original.to_owned(),
            };
            Some(Change { range, text, takes_out: false })
        })
    }
}

/// How far a text goes on of which `until` would: not into the middle of a change, as another may begin there. What is forced to go on, as no more
/// than so much may wait, goes to the end of its changes.
fn settled(changes: &[Change], mut until: usize, least: usize) -> usize {
    loop {
        let crosses = |change: &&Change| change.range.start < until && change.range.end > until;
        match changes.iter().filter(crosses).map(|change| change.range.start).min() {
            Some(start) if start >= least => until = start,
            Some(_) => return changes.iter().filter(crosses).map(|change| change.range.end).max().unwrap_or(until),
            None => return until,
        }
    }
}

/// Whether there is more text than may be. A token is four bytes, as is likely.
pub(crate) fn is_larger(bytes: u64, bytes_max: Option<u64>, tokens_max: Option<u64>) -> bool {
    bytes_max.is_some_and(|max| bytes > max) || tokens_max.is_some_and(|max| bytes.div_ceil(4) > max)
}

/// A text as a string of JSON has it, without quotes.
fn escaped(text: &str) -> String {
    let written = serde_json::to_string(text).unwrap_or_default();
    written.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
