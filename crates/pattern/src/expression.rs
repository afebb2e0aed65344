//! Regular expressions that are kept by the thousand: an NFA that is interpreted directly, without tables that grow in use. Search memory
//! is shared per thread. Time is bounded by the length of the text times that of the expression.

use regex_automata::nfa::thompson::{self, NFA, WhichCaptures, backtrack, pikevm};
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Input, util::syntax};
use regex_syntax::hir::Hir;
use std::cell::RefCell;

/// Largest NFA of one expression, in bytes. Usual ones take some KiB; a repetition of a large class, such as `\pL{30}`, hundreds. A pattern
/// bomb fails here, long before it has cost time.
const AUTOMATON_BYTES_MAX: usize = 1 << 20;
/// Size of the backtracker's visited set per thread, in bytes. Longer texts are searched by the PikeVM, which is slower and takes less.
const VISITED_BYTES_MAX: usize = 16 << 10;

/// A compiled expression.
#[derive(Debug)]
pub struct Expression {
    backtracker: backtrack::BoundedBacktracker,
    simulation: pikevm::PikeVM,
}

/// Whether the texts of groups are needed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Groups {
    Ignored,
    Kept,
}

/// The texts that an expression's groups matched.
pub struct GroupTexts<'t> {
    text: &'t str,
    /// Start and end of each group.
    slots: Vec<Option<NonMaxUsize>>,
}

thread_local! {
    /// Search memory; nothing in it carries over from one search to the next.
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch { backtracker: None, simulation: None }) };
}

struct Scratch {
    backtracker: Option<backtrack::Cache>,
    simulation: Option<pikevm::Cache>,
}

impl<'t> GroupTexts<'t> {
    /// A group's text; group 0 is the whole match. Empty when the group did not take part in the match; `None` when there is no such group.
    pub fn get(&self, number: usize) -> Option<&'t str> {
        match self.span(number) {
            Some((start, end)) => self.text.get(start..end),
            None => (number < self.len()).then_some(""),
        }
    }

    /// Where a group's text is; `None` when the group did not take part in the match, or does not exist.
    pub fn span(&self, number: usize) -> Option<(usize, usize)> {
        let [start, end] = self.slots.get(number.checked_mul(2)?..)?.first_chunk()?;
        Some(((*start)?.get(), (*end)?.get()))
    }

    /// Number of groups, with the whole match.
    #[allow(clippy::len_without_is_empty, reason = "a figure")]
    pub fn len(&self) -> usize {
        self.slots.len() / 2
    }

    /// The texts of all groups.
    pub fn iter(&self) -> impl Iterator<Item = &'t str> {
        (0..).map_while(|number| self.get(number))
    }
}

impl Expression {
    /// Compiles an expression in the engine's syntax; also returns its parsed form.
    pub fn compile(expression: &str, groups: Groups) -> Result<(Self, Hir), String> {
        let parsed = syntax::parse(expression).map_err(|error| format!("not a valid pattern: {error}"))?;
        let captures = if groups == Groups::Kept { WhichCaptures::All } else { WhichCaptures::None };
        let config = thompson::Config::new().nfa_size_limit(Some(AUTOMATON_BYTES_MAX)).which_captures(captures);
        let automaton =
            thompson::Compiler::new().configure(config).build_from_hir(&parsed).map_err(|error| match error.size_limit() {
                Some(_) => format!("takes more than {} KiB when compiled", AUTOMATON_BYTES_MAX >> 10),
                None => format!("not a valid pattern: {error}"),
            })?;
        Ok((Expression::of(automaton)?, parsed))
    }

    fn of(automaton: NFA) -> Result<Self, String> {
        let config = backtrack::Config::new().visited_capacity(VISITED_BYTES_MAX);
        let backtracker = backtrack::Builder::new().configure(config).build_from_nfa(automaton.clone());
        let simulation = pikevm::PikeVM::new_from_nfa(automaton);
        let unusable = |error: thompson::BuildError| format!("not a valid pattern: {error}");
        Ok(Expression { backtracker: backtracker.map_err(unusable)?, simulation: simulation.map_err(unusable)? })
    }

    /// Whether the expression matches a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.search(&Input::new(text).earliest(true), &mut [])
    }

    /// The texts of all groups, if the expression matches. It must have been compiled to keep its groups.
    pub fn groups<'t>(&self, text: &'t str) -> Option<GroupTexts<'t>> {
        self.groups_from(text, 0)
    }

    /// The texts of all groups of each match. Matches do not overlap.
    pub fn all_groups<'e, 't>(&'e self, text: &'t str) -> impl Iterator<Item = GroupTexts<'t>> + use<'e, 't> {
        let (mut from, mut last_end) = (0, None);
        std::iter::from_fn(move || {
            loop {
                let groups = self.groups_from(text, from)?;
                let (start, end) = groups.span(0)?;
                // An empty match is followed by a character, and does not stand right behind another match.
                from = if start == end { end + text.get(end..)?.chars().next().map_or(1, char::len_utf8) } else { end };
                if start < end || last_end != Some(end) {
                    last_end = Some(end);
                    return Some(groups);
                }
            }
        })
    }

    fn groups_from<'t>(&self, text: &'t str, from: usize) -> Option<GroupTexts<'t>> {
        let mut slots = vec![None; self.backtracker.get_nfa().group_info().slot_len()];
        let input = (from <= text.len()).then(|| Input::new(text).range(from..))?;
        self.search(&input, &mut slots).then_some(GroupTexts { text, slots })
    }

    /// Memory of the expression, in bytes.
    pub fn bytes(&self) -> usize {
        self.backtracker.get_nfa().memory_usage()
    }

    fn search(&self, input: &Input<'_>, slots: &mut [Option<NonMaxUsize>]) -> bool {
        SCRATCH.with_borrow_mut(|scratch| {
            let cache = scratch.backtracker.get_or_insert_with(|| self.backtracker.create_cache());
            self.backtracker.reset_cache(cache);
            if let Ok(found) = self.backtracker.try_search_slots(cache, input, slots) {
                return found.is_some();
            }
            let cache = scratch.simulation.get_or_insert_with(|| self.simulation.create_cache());
            self.simulation.reset_cache(cache);
            self.simulation.search_slots(cache, input, slots).is_some()
        })
    }
}
