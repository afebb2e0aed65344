//! What a request has in its path: the model, and whether the answer is a stream. Here they are the first members of its document, where other
//! APIs have them too, so that whatever reads requests finds them in one place. Google gets the document without them.

use crate::form::Unsupported;
use crate::json::{Fields, JsonNode, JsonObject, ObjectOut, object};
use crate::passed::Passed;

/// The model and the kind of answer that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeminiPath {
    /// The model.
    pub model: String,
    /// Whether the answer is a stream.
    pub stream: bool,
}

/// Members of a document that its path has.
const MODEL: &str = "model";
const STREAM: &str = "stream";
/// The member that bounds an answer, and the one that it is in.
const CONFIG: &str = "generationConfig";
const BOUND: &str = "maxOutputTokens";

impl GeminiPath {
    /// The document with what the path says before its members, which stay byte for byte.
    ///
    /// # Errors
    /// The document is broken, or says itself what the path says. It may name the same model again, as documents for embeddings do.
    pub fn into_body(self, body: &[u8], bytes_max: usize) -> Result<Vec<u8>, Unsupported> {
        let mut fields = Fields::of_body(body, bytes_max)?;
        if fields.names().any(|said| said == STREAM) {
            return fields.refuse(STREAM, "is said by the path");
        }
        if fields.names().any(|said| said == MODEL) {
            if fields.text(MODEL)?.is_some_and(|said| !is_named(&self.model, &said)) {
                return fields.refuse(MODEL, "is not that of the path");
            }
            let mut made = Vec::with_capacity(body.len());
            object(&mut made, |out| {
                self.write(out);
                fields.left().iter().for_each(|(name, value)| out.raw(name, value.raw()));
            });
            return Ok(made);
        }
        let is_empty = fields.names().next().is_none();
        let mut made = self.beginning();
        made.extend_from_slice(if is_empty { b"" } else { b"," });
        made.extend_from_slice(body.trim_ascii_start().strip_prefix(b"{").unwrap_or_default());
        Ok(made)
    }

    /// The first bytes of a document with these members.
    fn beginning(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        object(&mut bytes, |out| self.write(out));
        bytes.pop();
        bytes
    }

    fn write(&self, out: &mut ObjectOut) {
        out.text(MODEL, &self.model);
        out.flag(STREAM, self.stream);
    }
}

/// Whether a document names a model as its path does.
pub(crate) fn is_named(model: &str, said: &str) -> bool {
    said == model || said.strip_prefix("models/") == Some(model)
}

/// The path of a request, and the document as the client sent it, but for the bound of the answer.
///
/// # Errors
/// As [`Passed::read`], or it says where its bound is in two ways.
pub(crate) fn passed_body(
    body: &[u8],
    bytes_max: usize,
    output_tokens_max: Option<u64>,
) -> Result<(GeminiPath, Vec<u8>), Unsupported> {
    let Passed { model, stream, .. } = Passed::read(body, bytes_max)?;
    let path = GeminiPath { model, stream };
    let rest = body.strip_prefix(path.beginning().as_slice()).map(|rest| rest.strip_prefix(b",").unwrap_or(rest));
    let sent = [b"{", rest.unwrap_or(b"}")].concat();
    let Some(tokens_max) = output_tokens_max else { return Ok((path, sent)) };
    let fields = Fields::of_google_body(&sent, bytes_max)?;
    let mut bounded = Vec::with_capacity(sent.len() + 64);
    object(&mut bounded, |out| {
        let mut config = Vec::new();
        for (name, value) in fields.left() {
            match &*name {
                CONFIG if !value.is_null() => config = Fields::of_google(value, CONFIG.to_owned())?.left(),
                name => out.raw(name, value.raw()),
            }
        }
        out.object(CONFIG, |out| {
            config.iter().filter(|(name, _)| name != BOUND).for_each(|(name, value)| out.raw(name, value.raw()));
            out.whole(BOUND, tokens_max);
        });
        Ok(())
    })?;
    Ok((path, bounded))
}

/// The document of a question for the number of tokens of a request.
pub(crate) fn count_body(request: &[u8], model: &str) -> Vec<u8> {
    let mut made = Vec::with_capacity(request.len() + 64);
    object(&mut made, |out| {
        out.object("generateContentRequest", |out| {
            out.text("model", &format!("models/{model}"));
            let members = JsonNode::read(request, request.len()).ok().and_then(JsonNode::object).map(JsonObject::members);
            members.unwrap_or_default().iter().for_each(|(name, value)| out.raw(name, value.raw()));
        });
    });
    made
}

/// The document of a question for the number of tokens, as a client of Google's API sent it. It may have a whole request in it, which names its model again.
///
/// # Errors
/// As [`Passed::read`].
pub(crate) fn passed_count_body(body: &[u8], bytes_max: usize, model: &str) -> Result<Vec<u8>, Unsupported> {
    const REQUEST: &str = "generateContentRequest";
    let (_, sent) = passed_body(body, bytes_max, None)?;
    let fields = Fields::of_google_body(&sent, bytes_max)?;
    if !fields.names().any(|name| name == REQUEST) {
        return Ok(sent);
    }
    let mut made = Vec::with_capacity(sent.len() + 64);
    object(&mut made, |out| {
        for (name, value) in fields.left() {
            if name != REQUEST || value.is_null() {
                out.raw(&name, value.raw());
                continue;
            }
            let request = Fields::of_google(value, REQUEST.to_owned())?.left();
            out.object(REQUEST, |out| {
                out.text("model", &format!("models/{model}"));
                request.iter().filter(|(name, _)| name != "model").for_each(|(name, value)| out.raw(name, value.raw()));
            });
        }
        Ok(())
    })?;
    Ok(made)
}
