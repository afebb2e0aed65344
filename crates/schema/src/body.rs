//! JSON bodies against schemas of JSON Schema, with mismatches in the words of Tyk's validator.

use serde_json::Value;

use crate::compile::SchemaCompiler;
use crate::dialect::Dialect;
use crate::metaschema::metaschemas_of;
use crate::mismatch;
use crate::nodes::{SchemaId, SchemaSide, Schemas};
use crate::run::{Budget, Exhausted};
use crate::stream::Streamed;
use crate::tree::JsonTree;

/// A compiled schema.
#[derive(Debug)]
pub struct BodyValidator {
    schemas: Schemas,
    root: SchemaId,
    pattern_bytes: usize,
}

/// Why a body does not pass.
#[derive(Debug)]
pub enum InvalidBody {
    /// It is not JSON.
    NotJson(serde_json::Error),
    /// All mismatches, joined by `; `.
    Mismatches(String),
    /// The budget was not enough to find out.
    TooMuchWork,
}

impl BodyValidator {
    /// Compiles a schema.
    ///
    /// # Errors
    /// What is wrong with the schema.
    pub fn compile(document: &Value) -> Result<Self, String> {
        BodyValidator::compile_within(document, usize::MAX)
    }

    /// Compiles a schema that a stranger wrote: its patterns take together at most `pattern_bytes_max` bytes, and time in proportion.
    ///
    /// # Errors
    /// What is wrong with the schema.
    pub fn compile_within(document: &Value, pattern_bytes_max: usize) -> Result<Self, String> {
        let told = |why: String| format!("not a valid schema: {why}");
        let dialect = Dialect::named(document).map_err(told)?;
        let others = metaschemas_of(document);
        let mut compiler = SchemaCompiler::of_draft(document, &others, dialect).with_pattern_bytes(pattern_bytes_max);
        let root = compiler.at("#");
        let pattern_bytes = pattern_bytes_max.saturating_sub(compiler.pattern_bytes_left());
        let (schemas, problems) = compiler.finish();
        match problems.into_iter().find(|problem| problem.is_error()) {
            Some(problem) => Err(told(format!("{}: {}", problem.path, problem.message))),
            None => Ok(BodyValidator { schemas, root, pattern_bytes }),
        }
    }

    /// Bytes that its compiled patterns take.
    pub fn pattern_bytes(&self) -> usize {
        self.pattern_bytes
    }

    /// Checks a body.
    ///
    /// # Errors
    /// Why it does not pass.
    pub fn check(&self, body: &[u8], budget: Budget) -> Result<(), InvalidBody> {
        match self.schemas.fits_json(self.root, body, SchemaSide::Example, budget) {
            Streamed::Fits => return Ok(()),
            Streamed::TooMuchWork => return Err(InvalidBody::TooMuchWork),
            Streamed::Unfit => {}
        }
        let document = JsonTree::read(body).map_err(InvalidBody::NotJson)?;
        match mismatch::all(&self.schemas, self.root, &document, budget) {
            Ok(None) => Ok(()),
            Ok(Some(told)) => Err(InvalidBody::Mismatches(told)),
            Err(Exhausted) => Err(InvalidBody::TooMuchWork),
        }
    }
}
