//! Why a call of a plugin brought no answer.

use std::fmt;

/// Why a call brought no answer. Clients never see the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookFault {
    /// The plugin can't be reached. With `tollgate.plugins.on_failure` `open`, the request goes on without it.
    Unavailable(String),
    /// No answer in time; as `Unavailable`.
    Timeout,
    /// The plugin failed: it threw, returned nonsense or used up its limits. The request is refused.
    Failed(String),
}

impl fmt::Display for HookFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookFault::Unavailable(why) | HookFault::Failed(why) => f.write_str(why),
            HookFault::Timeout => f.write_str("no answer in time"),
        }
    }
}
