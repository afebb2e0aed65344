//! The guards of one answer, with what they know of its request.

use crate::guards::{Guard, Scanner, SchemaWatch};
use crate::report::Report;
use std::sync::Arc;
use tollgate_llm::ClientApi;

/// What guards of an answer know of its request.
pub(crate) struct AnswerGuards {
    pub(super) api: ClientApi,
    pub(super) scanner: Scanner,
    /// The guard of the schema, if the request has one.
    pub(super) schema: Option<(Arc<Guard>, SchemaWatch)>,
    /// Guards that ask somebody else, and the alias of the caller's key, which they are told.
    pub(super) moderation: Vec<Arc<Guard>>,
    pub(super) alias: String,
    /// What becomes of the request.
    pub(super) report: Report,
    pub(super) streams: bool,
    pub(super) model: String,
}

impl AnswerGuards {
    /// Whether a stream must wait for somebody else's word.
    pub(super) fn collects(&self) -> bool {
        self.moderation.iter().any(|guard| guard.refuses() && !guard.terms.dry_run)
    }
}
