//! All functions that a template can call, by name.

use crate::arguments::Function;
use crate::{builtins, sprig, times, xml};

pub(crate) use sprig::refusal;

/// The function with a name. Sprig's functions hide those of the language, as in Tyk.
pub(crate) fn function(name: &str) -> Option<&'static Function> {
    sprig::TABLES
        .iter()
        .copied()
        .flatten()
        .chain(builtins::FUNCTIONS)
        .chain(xml::FUNCTIONS)
        .chain(times::FUNCTIONS)
        .find(|function| function.name == name)
}
