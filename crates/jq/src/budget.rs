//! What one run of a filter may use. Operations of values have no context in jaq, so the budget of the run on a thread is in thread-local
//! cells. Nothing is given back before the run ends: the sum of what was made bounds memory and time at once.

use std::cell::Cell;
use std::fmt;

/// Units of work that every run has: about one for a byte of a value that is made or read. 130,000 calls of functions.
const WORK: usize = 16 << 20;

/// Units of work for each unit of weight of the input: a filter may look at everything several times.
const WORK_FOR_WEIGHT: usize = 16;

/// No run has more: one to two seconds.
const WORK_MAX: usize = 128 << 20;

/// Units of work of a brief run, whose core does nothing else meanwhile: about a millisecond.
const WORK_BRIEF: usize = 128 << 10;

/// The name of the function that takes from the budget. No filter can write it.
pub(crate) const TICK: &str = "\u{1}tick";

/// What a call of a function costs, as its frames in the interpreter may stay until the run ends.
pub(crate) const CALL: usize = 128;

/// Bytes of stack that one run may take. Threads have 2 MiB; between two checks a filter takes at most 300 KiB, because its text is not
/// nested deeper than `ast::DEPTH_MAX`.
const STACK_BYTES_MAX: usize = 768 << 10;

/// Levels of arrays and objects. Dropping, comparing and writing a value takes stack for each level.
pub(crate) const DEPTH_MAX: u32 = 256;

/// A limit that a run reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JqLimit {
    /// Steps, or bytes of values.
    Work,
    /// Calls inside of calls.
    Stack,
    /// Arrays and objects inside of each other.
    Depth,
}

impl fmt::Display for JqLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            JqLimit::Work => "the filter takes too many steps or too much memory",
            JqLimit::Stack => "the filter calls itself too deeply",
            JqLimit::Depth => "a value is nested too deeply",
        })
    }
}

thread_local! {
    /// Without a run nothing is counted.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The address below which the stack must not grow.
    static STACK_END: Cell<usize> = const { Cell::new(0) };
    static REACHED: Cell<Option<JqLimit>> = const { Cell::new(None) };
}

/// The run on this thread. Dropping it ends the counting.
pub(crate) struct WorkBudget;

impl WorkBudget {
    /// For a filter whose input has this weight.
    pub(crate) fn start(weight: usize, is_brief: bool) -> Self {
        let whole = WORK_FOR_WEIGHT.saturating_mul(weight).saturating_add(WORK).min(WORK_MAX);
        LEFT.set(if is_brief { WORK_BRIEF } else { whole });
        STACK_END.set(stack_position().saturating_sub(STACK_BYTES_MAX));
        REACHED.set(None);
        WorkBudget
    }
}

impl Drop for WorkBudget {
    fn drop(&mut self) {
        LEFT.set(usize::MAX);
        STACK_END.set(0);
        REACHED.set(None);
    }
}

/// The limit that the run has reached. It stays reached: what catches the error meets it again at its next step.
pub(crate) fn reached() -> Option<JqLimit> {
    REACHED.get()
}

/// Takes from the budget.
pub(crate) fn spend(units: usize) -> Result<(), JqLimit> {
    let left = LEFT.get();
    if left <= units {
        return Err(reach(JqLimit::Work));
    }
    if stack_position() < STACK_END.get() {
        return Err(reach(JqLimit::Stack));
    }
    LEFT.set(left - units);
    Ok(())
}

/// Ends the run. The first limit is the one that is reported.
pub(crate) fn reach(limit: JqLimit) -> JqLimit {
    let limit = REACHED.get().unwrap_or(limit);
    LEFT.set(0);
    REACHED.set(Some(limit));
    limit
}

/// Where the stack of this thread is.
#[inline(always)]
fn stack_position() -> usize {
    let mark = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&mark)).addr()
}
