//! Errors as GraphQL responses have them.

use serde::Serialize;

/// One entry of `errors`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphqlError {
    /// What is wrong.
    pub message: String,
    /// Where in the document, if that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<DocumentPlace>,
    /// A stable name of the error for programs, in `extensions.code`.
    #[serde(rename = "extensions", skip_serializing_if = "Option::is_none", serialize_with = "with_code")]
    pub code: Option<&'static str>,
}

/// A place in a document; both numbers start at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentPlace {
    /// Line.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

impl GraphqlError {
    /// An error without a place.
    pub fn new(message: impl Into<String>) -> Self {
        GraphqlError { message: message.into(), locations: Vec::new(), code: None }
    }

    /// The same error with a name for programs.
    pub fn with_code(self, code: &'static str) -> Self {
        GraphqlError { code: Some(code), ..self }
    }
}

fn with_code<S: serde::Serializer>(code: &Option<&'static str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("code", code.unwrap_or_default())])
}

/// The body of a response that has errors and no data.
pub fn errors_body(errors: &[GraphqlError]) -> Vec<u8> {
    #[derive(Serialize)]
    struct ErrorsBody<'e> {
        errors: &'e [GraphqlError],
    }
    // Texts and numbers always fit JSON.
    serde_json::to_vec(&ErrorsBody { errors }).unwrap_or_default()
}
