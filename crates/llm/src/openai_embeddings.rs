//! OpenAI's embeddings, as clients speak them: what goes to providers that have embeddings of their own, Cohere and Gemini.

use crate::form::{Fault, Unsupported, Usage};
use crate::json::{Fields, JsonNode, ObjectOut, object};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Most texts of a request, as OpenAI has it.
const TEXTS_MAX: usize = 2_048;
/// Most numbers of a vector: the longest of today have 4,096.
const NUMBERS_MAX: usize = 1 << 16;

/// A request for embeddings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingAsk {
    /// The model's name.
    pub model: String,
    /// The texts.
    pub texts: Vec<String>,
    /// The length of the vectors.
    pub dimensions: Option<u64>,
    /// Whether the vectors are written as base64 of their bytes.
    pub is_base64: bool,
}

impl EmbeddingAsk {
    /// Reads a request of at most so many bytes.
    ///
    /// # Errors
    /// It is broken, or has a member without counterpart.
    pub fn read(body: &[u8], bytes_max: usize) -> Result<Self, Unsupported> {
        let mut fields = Fields::of_body(body, bytes_max)?;
        let texts = fields.texts("input").map_err(|refused| Unsupported {
            why: "must be a string or an array of strings; tokens mean nothing to another provider".to_owned(),
            ..refused
        })?;
        if texts.is_empty() || texts.len() > TEXTS_MAX {
            return fields.refuse("input", format!("must have 1 to {TEXTS_MAX} texts"));
        }
        let ask = EmbeddingAsk {
            model: fields.needed_text("model")?,
            texts,
            dimensions: fields.whole("dimensions")?,
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

    /// Writes the body for Cohere. Its models want to know what a text is for, which OpenAI's do not say; texts that are too long are an error, as at
    /// OpenAI.
    pub(crate) fn cohere_body(&self) -> Vec<u8> {
        self.body(|out| {
            out.text("model", &self.model);
            out.array("texts", |texts| self.texts.iter().for_each(|text| texts.text(text)));
            out.text("input_type", "search_document");
            out.array("embedding_types", |types| types.text("float"));
            out.text("truncate", "NONE");
            out.whole_if("output_dimension", self.dimensions);
        })
    }

    /// Writes the body for Gemini.
    pub(crate) fn gemini_body(&self) -> Vec<u8> {
        self.body(|out| {
            out.array("requests", |requests| {
                for text in &self.texts {
                    requests.object(|out| {
                        out.text("model", &format!("models/{}", self.model));
                        out.object("content", |out| out.array("parts", |parts| parts.object(|part| part.text("text", text))));
                        out.whole_if("outputDimensionality", self.dimensions);
                    });
                }
            });
        })
    }

    fn body(&self, write: impl FnOnce(&mut ObjectOut)) -> Vec<u8> {
        let mut body = Vec::new();
        object(&mut body, write);
        body
    }

    /// Reads Cohere's answer and writes it for the client.
    pub(crate) fn of_cohere(&self, body: &[u8], bytes_max: usize) -> Result<(Vec<u8>, Usage), Fault> {
        let answer =
            JsonNode::read_lazily(body, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
        let vectors = answer.object("embeddings").ok_or_else(|| Fault::broken("no embeddings"))?.items("float");
        let billed = answer.object("meta").and_then(|meta| meta.object("billed_units"));
        let tokens = billed.and_then(|billed| Usage::figure(billed.get("input_tokens")?.number()));
        self.write(&vectors, tokens)
    }

    /// Reads Gemini's answer, which has no usage, and writes it for the client.
    pub(crate) fn of_gemini(&self, body: &[u8], bytes_max: usize) -> Result<(Vec<u8>, Usage), Fault> {
        let answer =
            JsonNode::read_lazily(body, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
        let vectors: Vec<_> = answer.items("embeddings").iter().filter_map(|item| item.object()?.get("values")).collect();
        self.write(&vectors, None)
    }

    fn write(&self, vectors: &[JsonNode], tokens: Option<u64>) -> Result<(Vec<u8>, Usage), Fault> {
        if vectors.len() != self.texts.len() {
            return Err(Fault::broken("not a vector for each text"));
        }
        let usage = Usage { input: tokens.unwrap_or(0), is_doubtful: tokens.is_none(), ..Usage::default() };
        let mut body = Vec::new();
        object(&mut body, |out| {
            out.text("object", "list");
            out.array("data", |data| {
                vectors.iter().enumerate().try_for_each(|(at, vector)| {
                    data.object(|out| {
                        out.text("object", "embedding");
                        out.whole("index", at as u64);
                        if self.is_base64 {
                            out.text("embedding", &base64_of(*vector)?);
                        } else {
                            out.raw("embedding", vector.raw());
                        }
                        Ok(())
                    })
                })
            })?;
            out.text("model", &self.model);
            out.object("usage", |out| {
                out.whole("prompt_tokens", usage.input);
                out.whole("total_tokens", usage.input);
            });
            Ok(())
        })?;
        Ok((body, usage))
    }
}

/// The numbers as four bytes each, the least significant first.
fn base64_of(vector: JsonNode) -> Result<String, Fault> {
    let numbers =
        vector.items().filter(|numbers| numbers.len() <= NUMBERS_MAX).ok_or_else(|| Fault::broken("a vector is no array"))?;
    let bytes: Option<Vec<[u8; 4]>> = numbers.into_iter().map(|number| Some((number.number()? as f32).to_le_bytes())).collect();
    Ok(STANDARD.encode(bytes.ok_or_else(|| Fault::broken("a vector has no numbers"))?.as_flattened()))
}
