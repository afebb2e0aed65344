//! Regular expressions that are kept by the thousand. An automaton of states that is walked as it is, without tables that grow while they
//! are used; what a search needs is kept once for each thread. Time is bounded by the length of the text times that of the expression.

use regex_automata::nfa::thompson::{self, NFA, WhichCaptures, backtrack, pikevm};
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Input, util::syntax};
use regex_syntax::hir::Hir;
use std::cell::RefCell;

/// What one expression may take. The usual take some KiB; a repetition of a large class, such as `\pL{30}`, hundreds. A pattern bomb ends
/// here, long before it has cost time.
const AUTOMATON_BYTES_MAX: usize = 1 << 20;
/// Notes on where a search has been, for each thread. Longer texts are searched in another way, which is slower and takes less.
const VISITED_BYTES_MAX: usize = 16 << 10;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Expression {
    backtracker: backtrack::BoundedBacktracker,
    simulation: pikevm::PikeVM,
}

/// Whether what groups match is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Groups {
    Ignored,
    Kept,
}

/// The texts of groups in one text.
pub(crate) struct GroupTexts<'t> {
    text: &'t str,
    /// Where each begins and ends.
    slots: Vec<Option<NonMaxUsize>>,
}

thread_local! {
    /// Memory for searches; it says nothing from one to the next.
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch { backtracker: None, simulation: None }) };
}

struct Scratch {
    backtracker: Option<backtrack::Cache>,
    simulation: Option<pikevm::Cache>,
}

impl<'t> GroupTexts<'t> {
    /// A group's text, empty when the group has no part in what was found; the first is the whole. `None` when there is no such group.
    pub(crate) fn get(&self, number: usize) -> Option<&'t str> {
        let [start, end] = self.slots.get(number.checked_mul(2)?..)?.first_chunk()?;
        let (Some(start), Some(end)) = (start, end) else { return Some("") };
        self.text.get(start.get()..end.get())
    }

    /// The texts of all groups.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'t str> {
        (0..).map_while(|number| self.get(number))
    }
}

impl Expression {
    /// Compiles an expression in the engine's syntax; it comes with what it was read as.
    pub(crate) fn compile(expression: &str, groups: Groups) -> Result<(Self, Hir), String> {
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

    /// Whether the expression is found in a text.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.search(&Input::new(text).earliest(true), &mut [])
    }

    /// What the expression and its groups are found as, if they are. The expression was compiled to keep its groups.
    pub(crate) fn groups<'t>(&self, text: &'t str) -> Option<GroupTexts<'t>> {
        let mut slots = vec![None; self.backtracker.get_nfa().group_info().slot_len()];
        self.search(&Input::new(text), &mut slots).then_some(GroupTexts { text, slots })
    }

    /// Memory in use.
    pub(crate) fn bytes(&self) -> usize {
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
