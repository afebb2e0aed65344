//! Google's embeddings: for one text, or for several, each with a request of its own.

use super::{EmbeddingApi, EmbeddingAsk, TEXTS_MAX, Vectors};
use crate::form::{Unsupported, Usage};
use crate::gemini;
use crate::json::{Fields, JsonObject, ObjectOut, object};

const REQUESTS: &str = "requests";

/// Reads a client's request.
pub(super) fn read(api: EmbeddingApi, body: &[u8], bytes_max: usize) -> Result<EmbeddingAsk, Unsupported> {
    let mut fields = Fields::of_google_body(body, bytes_max)?;
    let model = fields.needed_text("model")?;
    fields.drop_all(&["stream"]);
    let mut ask = EmbeddingAsk { api, model, texts: Vec::new(), dimensions: None, task: None, is_base64: false };
    if api == EmbeddingApi::Gemini {
        read_text(&mut fields, &mut ask)?;
    } else {
        let requests = fields.objects(REQUESTS)?;
        if requests.is_empty() || requests.len() > TEXTS_MAX {
            return fields.refuse(REQUESTS, format!("must have 1 to {TEXTS_MAX} requests"));
        }
        for mut request in requests {
            same_model(&mut request, &ask.model)?;
            read_text(&mut request, &mut ask)?;
            request.done()?;
        }
    }
    fields.done()?;
    Ok(ask)
}

/// Reads one text. Others have one length and one task for all.
fn read_text(fields: &mut Fields, ask: &mut EmbeddingAsk) -> Result<(), Unsupported> {
    let mut content = fields.needed_object("content")?;
    content.drop_all(&["role"]);
    let mut parts = content.one_or_more("parts")?;
    let [part] = parts.as_mut_slice() else { return content.refuse("parts", "must be one text") };
    let text = part.needed_text("text")?;
    parts.into_iter().try_for_each(Fields::done)?;
    content.done()?;
    let (dimensions, task) = (fields.whole("outputDimensionality")?, fields.text("taskType")?);
    if ask.texts.is_empty() {
        (ask.dimensions, ask.task) = (dimensions, task);
    } else if ask.dimensions != dimensions {
        return fields.refuse("outputDimensionality", "must be the same in all requests");
    } else if ask.task != task {
        return fields.refuse("taskType", "must be the same in all requests");
    }
    ask.texts.push(text);
    Ok(())
}

/// Each request names the model once more.
fn same_model(request: &mut Fields, model: &str) -> Result<(), Unsupported> {
    match request.text("model")? {
        Some(said) if !gemini::is_named(model, &said) => request.refuse("model", "is not that of the path"),
        _ => Ok(()),
    }
}

/// Writes the members of a request.
pub(super) fn write(ask: &EmbeddingAsk, out: &mut ObjectOut) {
    out.array(REQUESTS, |requests| {
        for text in &ask.texts {
            requests.object(|out| {
                out.text("model", &format!("models/{}", ask.model));
                out.object("content", |out| out.array("parts", |parts| parts.object(|part| part.text("text", text))));
                out.whole_if("outputDimensionality", ask.dimensions);
            });
        }
    });
}

/// The document of a request that passes, as the client sent it but for the name of the model in the requests of several texts.
///
/// # Errors
/// It is broken, or a request names another model than the path.
pub(crate) fn passed_body(body: &[u8], bytes_max: usize, model: &str) -> Result<Vec<u8>, Unsupported> {
    let (path, sent) = gemini::passed_body(body, bytes_max, None)?;
    let mut fields = Fields::of_google_body(&sent, bytes_max)?;
    let requests = fields.objects(REQUESTS)?;
    let names_it = requests.iter().any(|request| request.names().any(|name| name == "model"));
    let mut made = Vec::with_capacity(sent.len() + 64);
    object(&mut made, |out| {
        out.array(REQUESTS, |out| {
            requests.into_iter().try_for_each(|mut request| {
                same_model(&mut request, &path.model)?;
                out.object(|out| {
                    out.text("model", &format!("models/{model}"));
                    request.left().iter().for_each(|(name, value)| out.raw(name, value.raw()));
                });
                Ok(())
            })
        })?;
        fields.left().iter().for_each(|(name, value)| out.raw(name, value.raw()));
        Ok(())
    })?;
    Ok(if names_it && model != path.model { made } else { sent })
}

/// The vectors of an answer.
pub(super) fn vectors<'a>(answer: &JsonObject<'a>) -> Vectors<'a> {
    let vectors = answer.items("embeddings").iter().filter_map(|item| item.object()?.get("values")).collect();
    let tokens = answer.object("usageMetadata").and_then(|usage| Usage::figure(usage.get("promptTokenCount")?.number()));
    Vectors { vectors, tokens }
}

/// Writes an answer for a client.
pub(super) fn write_reply(api: EmbeddingApi, told: &Vectors) -> Vec<u8> {
    let mut body = Vec::new();
    object(&mut body, |out| {
        match told.vectors.as_slice() {
            [vector] if api == EmbeddingApi::Gemini => out.object("embedding", |out| out.raw("values", vector.raw())),
            vectors => out.array("embeddings", |out| {
                vectors.iter().for_each(|vector| out.object(|out| out.raw("values", vector.raw())));
            }),
        }
        if let Some(tokens) = told.tokens {
            out.object("usageMetadata", |out| {
                out.whole("promptTokenCount", tokens);
                out.whole("totalTokenCount", tokens);
            });
        }
    });
    body
}
