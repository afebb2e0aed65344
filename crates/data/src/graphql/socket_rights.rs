//! What a client may ask for inside a WebSocket: its rights are those that it had at the handshake.

use super::GraphqlApi;
use tollgate_graphql::{CheckedOperation, Denial, GraphqlError, GraphqlRequest, GraphqlRights, KnownDocument};

/// What a client may ask for.
#[derive(Clone, Debug, Default)]
pub struct SocketRights {
    pub rights: GraphqlRights,
    /// Whether nobody may ask for the schema.
    pub is_closed: bool,
}

impl SocketRights {
    /// The operation of a request; `Err` is what is wrong with it, in Tyk's words.
    pub(super) fn permit<'k>(
        &self,
        api: &GraphqlApi,
        known: &'k KnownDocument,
        request: &GraphqlRequest<'_>,
    ) -> Result<CheckedOperation<'k>, Vec<GraphqlError>> {
        let one = |error: GraphqlError| vec![error];
        let document = known.as_ref().as_ref().map_err(|fault| fault.errors.clone())?;
        let operation = document.operation(request.operation_name.as_deref()).map_err(one)?;
        operation.check_variables(&api.schema, request.variables.as_ref()).map_err(one)?;
        if operation.facts.introspects && self.is_closed {
            return Err(one(GraphqlError::new(Denial::Introspection.to_string())));
        }
        self.rights.check(operation, &api.schema).map_err(|denial| one(GraphqlError::new(denial.to_string())))?;
        Ok(operation)
    }
}
