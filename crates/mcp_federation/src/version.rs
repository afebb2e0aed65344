//! Versions of the protocol.

/// The versions that begin with `initialize`, the newest first.
pub(crate) const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// The version in which each request stands for itself.
pub(crate) const MODERN: &str = "2026-07-28";
/// Where a modern request says its version.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Where it says who sends it.
pub(crate) const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
/// Where it says what its client can do.
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Where a result says who sends it.
pub(crate) const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// Where messages of a subscription say which one.
pub(crate) const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// Where a request says which log messages it wants.
pub(crate) const META_LOG: &str = "io.modelcontextprotocol/logLevel";

/// All versions that clients may speak, the newest first.
pub(crate) fn supported() -> Vec<&'static str> {
    [MODERN].into_iter().chain(LEGACY).collect()
}

/// How a server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// It begins with `initialize`.
    Legacy,
    /// Each request stands for itself.
    Modern,
}
