//! GraphQL requests as a gateway sees them before an upstream does: what a request says, whether its document is valid for a schema, how much
//! it asks for, and whether a key may ask for it. Also the answers to introspection. No I/O and no clock: the caller has the bytes, and says
//! where the work runs.

#[cfg_attr(not(feature = "documents"), path = "checking_absent.rs")]
mod checking;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "the tests ask only for its refusals")]
mod checking_absent;
mod documents;
mod error;
mod facts;
mod fault;
mod request;
mod rights;

pub use checking::{CheckedDocument, CheckedOperation, GraphqlSchema};
pub use documents::{DocumentCache, KnownDocument};
pub use error::{DocumentPlace, GraphqlError, errors_body};
pub use facts::{OperationFacts, OperationKind, RootField, UsedField};
pub use fault::{DocumentFault, DocumentFaultKind, DocumentLimits, SchemaFault, SchemaRules};
pub use request::{GRAPHQL_RESPONSE, GraphqlRequest, RequestFault, is_request_parameter, parse_body, parse_pairs, response_type};
pub use rights::{Denial, FieldDepth, GraphqlRights, TypeFields};
