//! Compiled regular expressions in Go's syntax. A search takes time in proportion to the text: what it reads is counted against a budget,
//! because finding all matches of `.*x|y` reads the rest of the text for each of them.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::pikevm::{Cache as GroupCache, PikeVM};
use regex_automata::nfa::thompson::{Config as NfaConfig, NFA, WhichCaptures};
use regex_automata::util::pool::{Pool, PoolGuard};
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, MatchKind};

/// Maximum size in bytes of a compiled expression that a template contains: some thousand characters, or a few classes of Unicode.
const WRITTEN_BYTES_MAX: usize = 4 << 20;
/// The same for one that is made when the template is rendered, perhaps of a client's text; it is compiled for each rendering.
const MADE_BYTES_MAX: usize = 512 << 10;
/// Bytes of each search table. A table that is full starts anew.
const TABLE_BYTES: usize = 256 << 10;
/// States of an expression that make its searches cost double.
const STATES_PER_COST: usize = 256;
/// What the groups of a match cost beside its own bytes, in bytes that are searched.
const GROUPS_COST: usize = 32;

/// Maximum number of matches in a text.
const MATCHES_MAX: usize = 1_000_000;

/// The tables of a search.
struct Tables {
    forward: Cache,
    backward: Cache,
}

type MakeTables = Box<dyn Fn() -> Tables + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

pub(crate) struct TemplatePattern {
    text: String,
    forward: DFA,
    backward: DFA,
    groups: PikeVM,
    tables: Pool<Tables, MakeTables>,
    /// What a byte of text costs.
    cost: usize,
}

impl std::fmt::Debug for TemplatePattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Pattern({:?})", self.text)
    }
}

impl TemplatePattern {
    /// Compiles an expression of the template itself.
    pub(crate) fn written(text: &str) -> Result<Self, String> {
        TemplatePattern::compiled(text, WRITTEN_BYTES_MAX)
    }

    /// Compiles an expression that the template made.
    pub(crate) fn made(text: &str) -> Result<Self, String> {
        TemplatePattern::compiled(text, MADE_BYTES_MAX)
    }

    fn compiled(text: &str, bytes_max: usize) -> Result<Self, String> {
        if text.len() > bytes_max / 16 {
            return Err(format!("a regular expression of more than {} bytes", bytes_max / 16));
        }
        let expression = tollgate_re2::translate(text)?;
        let explain = |error: &dyn std::error::Error| tollgate_re2::explained(text, error);
        let nfa = |is_reversed: bool| {
            let captures = if is_reversed { WhichCaptures::None } else { WhichCaptures::All };
            let config = NfaConfig::new().reverse(is_reversed).which_captures(captures).nfa_size_limit(Some(bytes_max));
            NFA::compiler().configure(config).build(&expression).map_err(|error| explain(&error))
        };
        let (ahead, back) = (nfa(false)?, nfa(true)?);
        let table = DFA::config().cache_capacity(TABLE_BYTES).skip_cache_capacity_check(true);
        let dfa = |nfa: NFA, kind: MatchKind| {
            DFA::builder().configure(table.clone().match_kind(kind)).build_from_nfa(nfa).map_err(|error| explain(&error))
        };
        let cost = 1 + ahead.states().len() / STATES_PER_COST;
        let groups = PikeVM::builder().build_from_nfa(ahead.clone()).map_err(|error| explain(&error))?;
        let (forward, backward) = (dfa(ahead, MatchKind::LeftmostFirst)?, dfa(back, MatchKind::All)?);
        let (ahead, back) = (forward.clone(), backward.clone());
        let tables: MakeTables = Box::new(move || Tables { forward: ahead.create_cache(), backward: back.create_cache() });
        Ok(TemplatePattern { text: text.to_owned(), forward, backward, groups, tables: Pool::new(tables), cost })
    }

    pub(crate) fn is_of(&self, text: &str) -> bool {
        self.text == text
    }

    /// A search that may read so many bytes.
    pub(crate) fn search(&self, bytes_max: usize) -> PatternSearch<'_> {
        PatternSearch { pattern: self, tables: self.tables.get(), group_table: None, bytes_left: bytes_max, bytes_max }
    }
}

/// The searches of one call of a function.
pub(crate) struct PatternSearch<'p> {
    pattern: &'p TemplatePattern,
    tables: PoolGuard<'p, Tables, MakeTables>,
    group_table: Option<GroupCache>,
    bytes_left: usize,
    bytes_max: usize,
}

/// Start and end of a match, in bytes.
pub(crate) type MatchSpan = (usize, usize);

/// The groups of a match; the first one is the match.
pub(crate) type GroupSpans = Vec<Option<MatchSpan>>;

impl PatternSearch<'_> {
    /// Bytes that were read so far, each counted as often as the size of the expression demands.
    pub(crate) fn bytes_read(&self) -> usize {
        self.bytes_max - self.bytes_left
    }

    fn read(&mut self, bytes: usize) -> Result<(), String> {
        let cost = bytes.saturating_mul(self.pattern.cost);
        self.bytes_left = self.bytes_left.checked_sub(cost).ok_or("the search would take more steps than are left")?;
        Ok(())
    }

    pub(crate) fn is_match(&mut self, text: &str) -> Result<bool, String> {
        Ok(self.end(text, 0, true)?.is_some())
    }

    /// The first match from a position on.
    pub(crate) fn find(&mut self, text: &str, from: usize) -> Result<Option<MatchSpan>, String> {
        let Some(end) = self.end(text, from, false)? else { return Ok(None) };
        let input = Input::new(text).range(from..end).anchored(Anchored::Yes);
        let found = self.pattern.backward.try_search_rev(&mut self.tables.backward, &input).map_err(|error| error.to_string())?;
        Ok(found.map(|start| (start.offset(), end)))
    }

    /// All matches, or the first ones, as Go finds them: no empty one directly after another.
    pub(crate) fn find_all(&mut self, text: &str, most: usize) -> Result<Vec<MatchSpan>, String> {
        let mut found: Vec<MatchSpan> = Vec::new();
        let mut from = 0;
        while from <= text.len() && found.len() < most {
            let Some((start, end)) = self.find(text, from)? else { break };
            let follows = found.last().is_some_and(|(_, last)| start == end && start == *last);
            if !follows {
                if found.len() == MATCHES_MAX {
                    return Err(format!("more than {MATCHES_MAX} matches"));
                }
                found.push((start, end));
            }
            from = if start == end { next_character(text, end) } else { end };
        }
        Ok(found)
    }

    /// The groups of a match.
    pub(crate) fn groups(&mut self, text: &str, (start, end): MatchSpan) -> Result<GroupSpans, String> {
        self.read(end - start + GROUPS_COST)?;
        let pattern = self.pattern;
        let machine = &pattern.groups;
        let mut slots: Vec<Option<NonMaxUsize>> = vec![None; machine.get_nfa().group_info().slot_len()];
        let input = Input::new(text).range(start..end).anchored(Anchored::Yes);
        machine.search_slots(self.group_table.get_or_insert_with(|| machine.create_cache()), &input, &mut slots);
        let spans = slots.chunks(2).map(|pair| match pair {
            [Some(start), Some(end)] => Some((start.get(), end.get())),
            _ => None,
        });
        Ok(spans.collect())
    }

    /// The number of the group with a name.
    pub(crate) fn group_named(&self, name: &str) -> Option<usize> {
        self.pattern.groups.get_nfa().group_info().to_index(regex_automata::PatternID::ZERO, name)
    }

    /// Where the first match from a position on ends; the first of its ends if any will do.
    fn end(&mut self, text: &str, mut from: usize, is_any_enough: bool) -> Result<Option<usize>, String> {
        loop {
            let Some(end) = self.end_from(text, from, is_any_enough)? else { return Ok(None) };
            // An empty match may be found within a character.
            if text.is_char_boundary(end) {
                return Ok(Some(end));
            }
            from = next_character(text, from);
            if from > text.len() {
                return Ok(None);
            }
        }
    }

    fn end_from(&mut self, text: &str, from: usize, is_any_enough: bool) -> Result<Option<usize>, String> {
        let explain = |error: &dyn std::error::Error| error.to_string();
        let input = Input::new(text).range(from..);
        let pattern = self.pattern;
        let dfa = &pattern.forward;
        let bytes = text.as_bytes().get(from..).unwrap_or_default();
        let mut found = None;
        let mut read = 0;
        let readable = self.bytes_left / self.pattern.cost;
        let mut state = dfa.start_state_forward(&mut self.tables.forward, &input).map_err(|error| explain(&error))?;
        let mut is_over = false;
        for byte in bytes.iter().take(readable) {
            state = dfa.next_state(&mut self.tables.forward, state, *byte).map_err(|error| explain(&error))?;
            if state.is_tagged() {
                if state.is_match() {
                    // The automaton tells a match one byte late.
                    found = Some(from + read);
                    is_over = is_any_enough;
                } else if state.is_dead() {
                    is_over = true;
                } else if state.is_quit() {
                    return Err("the text cannot be searched".to_owned());
                }
            }
            read += 1;
            if is_over {
                break;
            }
        }
        self.read(read)?;
        if is_over {
            return Ok(found);
        }
        if read < bytes.len() {
            // Fails: the budget is at its end.
            self.read(bytes.len() - read)?;
        }
        state = dfa.next_eoi_state(&mut self.tables.forward, state).map_err(|error| explain(&error))?;
        Ok(if state.is_match() { Some(text.len()) } else { found })
    }
}

/// The position after the character at a position.
fn next_character(text: &str, at: usize) -> usize {
    (at + 1..text.len()).find(|next| text.is_char_boundary(*next)).unwrap_or(text.len().max(at) + usize::from(at >= text.len()))
}
