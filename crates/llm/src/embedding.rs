//! Requests for embeddings: as clients of OpenAI's and Google's APIs make them, and what goes to providers that speak another one.

mod cohere;
mod gemini;
mod openai;

pub(crate) use gemini::passed_body as passed_gemini_body;

use crate::form::{Fault, Unsupported, Usage};
use crate::json::{JsonNode, JsonObject, ObjectOut, object};

/// Most texts of a request, as OpenAI has it.
const TEXTS_MAX: usize = 2_048;

/// An API in which clients ask for embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddingApi {
    /// `POST /v1/embeddings`.
    OpenAi,
    /// Google's `POST /v1beta/models/NAME:embedContent`, for one text. Its path is in its document (see [`crate::GeminiPath`]).
    Gemini,
    /// Google's `POST /v1beta/models/NAME:batchEmbedContents`, in the same way.
    GeminiBatch,
}

/// A request for embeddings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingAsk {
    /// In whose form the client reads the answer.
    pub api: EmbeddingApi,
    /// The model's name.
    pub model: String,
    /// The texts.
    pub texts: Vec<String>,
    /// The length of the vectors.
    pub dimensions: Option<u64>,
    /// What the vectors are for, as Google's API names it.
    pub task: Option<String>,
    /// Whether the vectors are written as base64 of their bytes.
    pub is_base64: bool,
}

/// What a provider has told: a vector for each text, as JSON, and the tokens of the texts.
struct Vectors<'a> {
    vectors: Vec<JsonNode<'a>>,
    tokens: Option<u64>,
}

impl EmbeddingApi {
    /// Reads a request of at most so many bytes.
    ///
    /// # Errors
    /// It is broken, or has a member without counterpart.
    pub fn read(self, body: &[u8], bytes_max: usize) -> Result<EmbeddingAsk, Unsupported> {
        match self {
            EmbeddingApi::OpenAi => openai::read(body, bytes_max),
            EmbeddingApi::Gemini | EmbeddingApi::GeminiBatch => gemini::read(self, body, bytes_max),
        }
    }
}

impl EmbeddingAsk {
    /// Writes the body for a provider of OpenAI's API. Its models make one vector of a text, whatever it is for.
    pub(crate) fn openai_body(&self) -> Vec<u8> {
        body(|out| openai::write(self, out))
    }

    /// Writes the body for Cohere.
    ///
    /// # Errors
    /// It has no such task.
    pub(crate) fn cohere_body(&self) -> Result<Vec<u8>, Unsupported> {
        let input_type = cohere::input_type(self)?;
        Ok(body(|out| cohere::write(self, input_type, out)))
    }

    /// Writes the body for Gemini.
    pub(crate) fn gemini_body(&self) -> Vec<u8> {
        body(|out| gemini::write(self, out))
    }

    /// Reads the answer of a provider of OpenAI's API and writes it for the client.
    pub(crate) fn of_openai(&self, body: &[u8], bytes_max: usize) -> Result<(Vec<u8>, Usage), Fault> {
        self.write(&openai::vectors(&answer(body, bytes_max)?)?)
    }

    /// Reads Cohere's answer and writes it for the client.
    pub(crate) fn of_cohere(&self, body: &[u8], bytes_max: usize) -> Result<(Vec<u8>, Usage), Fault> {
        self.write(&cohere::vectors(&answer(body, bytes_max)?)?)
    }

    /// Reads Gemini's answer and writes it for the client.
    pub(crate) fn of_gemini(&self, body: &[u8], bytes_max: usize) -> Result<(Vec<u8>, Usage), Fault> {
        self.write(&gemini::vectors(&answer(body, bytes_max)?))
    }

    fn write(&self, told: &Vectors) -> Result<(Vec<u8>, Usage), Fault> {
        if told.vectors.len() != self.texts.len() {
            return Err(Fault::broken("not a vector for each text"));
        }
        let body = match self.api {
            EmbeddingApi::OpenAi => openai::write_reply(self, told)?,
            EmbeddingApi::Gemini | EmbeddingApi::GeminiBatch => gemini::write_reply(self.api, told),
        };
        let usage = Usage { input: told.tokens.unwrap_or(0), is_doubtful: told.tokens.is_none(), ..Usage::default() };
        Ok((body, usage))
    }
}

fn body(write: impl FnOnce(&mut ObjectOut)) -> Vec<u8> {
    let mut body = Vec::new();
    object(&mut body, write);
    body
}

fn answer(body: &[u8], bytes_max: usize) -> Result<JsonObject<'_>, Fault> {
    JsonNode::read_lazily(body, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))
}
