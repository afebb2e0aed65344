//! The kinds of servers that the gateway itself calls, as the configuration tells them apart.

/// A kind of server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ServiceKind {
    /// None that the configuration knows.
    #[default]
    Other,
    /// Key sets, token and introspection endpoints.
    OAuth,
    /// Checks of targets.
    Health,
    /// Lists of targets.
    Discovery,
    /// Receivers of events.
    Webhooks,
    /// Issuers of the gateway's certificates.
    Issuers,
}
