//! The kinds of servers that the gateway itself calls, as the configuration tells them apart.

/// A kind of server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum ServiceKind {
    /// None that the configuration knows.
    #[default]
    Other,
    OAuth,
    Health,
    Discovery,
    Webhooks,
}
