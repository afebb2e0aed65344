//! OpenAPI documents, versions 3.0 and 3.1: reading and checking them, Tyk's extension `x-tyk-api-gateway` as a classic API definition and back,
//! validation of requests and responses, checks of examples, mocks from examples and schemas, and Swagger 2 by conversion. No I/O and no clock: a document is a text, a
//! request is what the caller hands over.
//!
//! A `$ref` leads to a place of the same document; any other reference is refused, because a document must not make the gateway send requests.

mod convert;
mod document;
mod examples;
mod extension;
mod import;
pub mod mcp_mark;
mod mock;
mod multipart;
mod parameter;
mod parameter_path;

mod places;
mod request;
mod request_parts;
mod response;
mod swagger;

pub use convert::{ConvertedDefinition, to_classic, to_openapi};
pub use document::{Document, Operation, Version, is_openapi, read_text};
pub use examples::{ExampleKinds, check_examples};
pub use extension::{ClassicForm, EXTENSION, classic_form, extension_schema, set_classic_fields};
pub use import::{ImportOptions, apply as apply_import};
pub use mock::{MockSelection, Mocked, Mocks};
pub use request::{OperationRules, RulesCompiler, query as form_pairs};
pub use request_parts::{HeaderLookup, RequestMismatch, RequestParts};
pub use response::{ResponseCheck, ResponseCompiler, ResponseRules, UnfitBody};
pub use swagger::{ConvertedSwagger, convert_swagger, is_swagger};
pub use tollgate_schema::{Budget, Mismatch, SchemaSide};
