//! All functions that a template can call, by name.

use crate::arguments::Function;
use crate::{builtins, sprig, xml};

/// The function of a name. Those of sprig hide those of the language, as they do in Tyk.
pub(crate) fn function(name: &str) -> Option<&'static Function> {
    sprig::TABLES.iter().copied().flatten().chain(builtins::FUNCTIONS).chain(xml::FUNCTIONS).find(|function| function.name == name)
}
