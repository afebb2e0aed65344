//! `tollgate schema`: JSON Schemas of documents for editors, and the OpenAPI description of the control API for client generators.

use crate::cli::SchemaName;
use serde_json::Value;
use tollgate_control::api::described;
use tollgate_model::DocumentSchema;

pub(crate) fn schema(document: SchemaName) -> Value {
    match document {
        SchemaName::Api => DocumentSchema::Definition.whole(),
        SchemaName::Policy => DocumentSchema::Policy.whole(),
        SchemaName::Key => DocumentSchema::Key.whole(),
        SchemaName::Config => DocumentSchema::Configuration.whole(),
        SchemaName::ControlApi => described(),
    }
}
