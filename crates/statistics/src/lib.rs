//! What an operator sees of the recent past: samples of the last hour, top lists over a sliding window, and what becomes of calls under way,
//! such as requests to language models. Everything is bounded, gets the time as a parameter and does no I/O.

mod figures;
mod history;
mod llm_call;
mod open_calls;
mod space_saving;
mod top;

pub use figures::{COUNTS, Count, Figures};
pub use history::{APIS_MAX, History, HistorySpan, SLOTS, STEP_S, SpanQuestion};
pub use llm_call::LlmCall;
pub use open_calls::{OpenCall, OpenCalls};
pub use space_saving::{SpaceSaving, Summary, TopCount};
pub use top::{COUNTERS, PANE_S, PANES_MAX, TopWindow, TopWindows};
