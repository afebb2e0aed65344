//! The call that a request to an MCP proxy makes.

use tollgate_model::session::PrimitiveKind;

/// One call of JSON-RPC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcCall {
    /// Its method, such as `tools/call`.
    pub method: String,
    /// The tool, resource or prompt that it uses.
    pub primitive: Option<(PrimitiveKind, String)>,
    /// Its `id`, as JSON.
    pub id: String,
}

impl RpcCall {
    /// The kind and name of the primitive.
    pub fn primitive(&self) -> Option<(PrimitiveKind, &str)> {
        self.primitive.as_ref().map(|(kind, name)| (*kind, name.as_str()))
    }
}
