//! Cohere's embeddings, as a provider answers them.

use super::{EmbeddingApi, EmbeddingAsk, Vectors};
use crate::form::{Fault, Unsupported, Usage};
use crate::json::{JsonObject, ObjectOut};

/// What a text is for. Cohere wants to know it; clients of OpenAI's API do not say it.
pub(super) fn input_type(ask: &EmbeddingAsk) -> Result<&'static str, Unsupported> {
    let member = if ask.api == EmbeddingApi::GeminiBatch { "requests[0].taskType" } else { "taskType" };
    Ok(match ask.task.as_deref() {
        None | Some("TASK_TYPE_UNSPECIFIED" | "RETRIEVAL_DOCUMENT") => "search_document",
        Some("RETRIEVAL_QUERY") => "search_query",
        Some("CLASSIFICATION") => "classification",
        Some("CLUSTERING") => "clustering",
        Some(_) => return Err(Unsupported::new(member, "has no counterpart at the provider of this model")),
    })
}

/// Writes the members of a request. Texts that are too long are an error, as elsewhere.
pub(super) fn write(ask: &EmbeddingAsk, input_type: &str, out: &mut ObjectOut) {
    out.text("model", &ask.model);
    out.array("texts", |texts| ask.texts.iter().for_each(|text| texts.text(text)));
    out.text("input_type", input_type);
    out.array("embedding_types", |types| types.text("float"));
    out.text("truncate", "NONE");
    out.whole_if("output_dimension", ask.dimensions);
}

/// The vectors of an answer.
pub(super) fn vectors<'a>(answer: &JsonObject<'a>) -> Result<Vectors<'a>, Fault> {
    let vectors = answer.object("embeddings").ok_or_else(|| Fault::broken("no embeddings"))?.items("float");
    let billed = answer.object("meta").and_then(|meta| meta.object("billed_units"));
    let tokens = billed.and_then(|billed| Usage::figure(billed.get("input_tokens")?.number()));
    Ok(Vectors { vectors, tokens })
}
