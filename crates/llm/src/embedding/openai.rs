//! OpenAI's embeddings.

use super::{EmbeddingApi, EmbeddingAsk, TEXTS_MAX, Vectors};
use crate::form::{Fault, Unsupported, Usage};
use crate::json::{Fields, JsonNode, JsonObject, ObjectOut, object};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Most numbers of a vector: the longest of today have 4,096.
const NUMBERS_MAX: usize = 1 << 16;

/// Reads a client's request.
pub(super) fn read(body: &[u8], bytes_max: usize) -> Result<EmbeddingAsk, Unsupported> {
    let mut fields = Fields::of_body(body, bytes_max)?;
    let texts = fields.texts("input").map_err(|refused| Unsupported {
        why: "must be a string or an array of strings; tokens mean nothing to another provider".to_owned(),
        ..refused
    })?;
    if texts.is_empty() || texts.len() > TEXTS_MAX {
        return fields.refuse("input", format!("must have 1 to {TEXTS_MAX} texts"));
    }
    let ask = EmbeddingAsk {
        api: EmbeddingApi::OpenAi,
        model: fields.needed_text("model")?,
        texts,
        dimensions: fields.whole("dimensions")?,
        task: None,
        is_base64: match fields.text("encoding_format")?.as_deref() {
            None | Some("float") => false,
            Some("base64") => true,
            Some(_) => return fields.refuse("encoding_format", "must be float or base64"),
        },
    };
    fields.drop_all(&["user"]);
    fields.done()?;
    Ok(ask)
}

/// Writes the members of a request. Vectors are numbers if nothing is said.
pub(super) fn write(ask: &EmbeddingAsk, out: &mut ObjectOut) {
    out.text("model", &ask.model);
    out.array("input", |texts| ask.texts.iter().for_each(|text| texts.text(text)));
    out.whole_if("dimensions", ask.dimensions);
}

/// The vectors of a provider's answer, in the order of their texts.
pub(super) fn vectors<'a>(answer: &JsonObject<'a>) -> Result<Vectors<'a>, Fault> {
    let items = answer.items("data");
    let mut vectors = vec![None; items.len()];
    for (at, item) in items.iter().enumerate() {
        let item = item.object().ok_or_else(|| Fault::broken("a vector is no object"))?;
        let index = item.get("index").map_or(Some(at as u64), JsonNode::whole);
        let place = index.and_then(|index| vectors.get_mut(usize::try_from(index).ok()?));
        *place.ok_or_else(|| Fault::broken("a vector of no text"))? = item.get("embedding");
    }
    let tokens = answer.object("usage").and_then(|usage| Usage::figure(usage.get("prompt_tokens")?.number()));
    Ok(Vectors { vectors: vectors.into_iter().flatten().collect(), tokens })
}

/// Writes an answer for a client.
pub(super) fn write_reply(ask: &EmbeddingAsk, told: &Vectors) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    let tokens = told.tokens.unwrap_or(0);
    object(&mut body, |out| {
        out.text("object", "list");
        out.array("data", |data| {
            told.vectors.iter().enumerate().try_for_each(|(at, vector)| {
                data.object(|out| {
                    out.text("object", "embedding");
                    out.whole("index", at as u64);
                    if ask.is_base64 {
                        out.text("embedding", &base64_of(*vector)?);
                    } else {
                        out.raw("embedding", vector.raw());
                    }
                    Ok(())
                })
            })
        })?;
        out.text("model", &ask.model);
        out.object("usage", |out| {
            out.whole("prompt_tokens", tokens);
            out.whole("total_tokens", tokens);
        });
        Ok(())
    })?;
    Ok(body)
}

/// The numbers as four bytes each, the least significant first.
fn base64_of(vector: JsonNode) -> Result<String, Fault> {
    let numbers =
        vector.items().filter(|numbers| numbers.len() <= NUMBERS_MAX).ok_or_else(|| Fault::broken("a vector is no array"))?;
    let bytes: Option<Vec<[u8; 4]>> = numbers.into_iter().map(|number| Some((number.number()? as f32).to_le_bytes())).collect();
    Ok(STANDARD.encode(bytes.ok_or_else(|| Fault::broken("a vector has no numbers"))?.as_flattened()))
}
