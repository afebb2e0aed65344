//! GraphQL requests as a gateway sees them before an upstream does: what a request says, whether its document is valid for a schema, how much
//! it asks for, and whether a key may ask for it. Also the answers to introspection. No I/O and no clock: the caller has the bytes, and says
//! where the work runs.

mod analysis;
mod document;
mod documents;
mod error;
mod introspection;
mod request;
mod rights;
mod schema;
mod variables;
mod wording;

pub use analysis::{OperationFacts, OperationKind, RootField, UsedField};
pub use document::{CheckedDocument, CheckedOperation, DocumentFault, DocumentFaultKind, DocumentLimits};
pub use documents::{DocumentCache, KnownDocument};
pub use error::{DocumentPlace, GraphqlError, errors_body};
pub use request::{GRAPHQL_RESPONSE, GraphqlRequest, RequestFault, is_request_parameter, parse_body, parse_pairs, response_type};
pub use rights::{Denial, FieldDepth, GraphqlRights, TypeFields};
pub use schema::{GraphqlSchema, SchemaFault, SchemaRules};
