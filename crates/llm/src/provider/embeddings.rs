//! Embeddings of providers: which of them answer a client as it is, and whose files read and write the others.

use super::{GEMINI_BASE, Provider, ProviderApi, ProviderRequest, segment};
use crate::embedding::{EmbeddingApi, EmbeddingAsk, passed_gemini_body};
use crate::form::{Fault, Unsupported, Usage};
use crate::passed::{PassedChange, passed_body};
use crate::{cohere, gemini, openai_chat};

impl Provider {
    /// Whether requests for embeddings are understood without translation.
    pub fn speaks_embeddings(&self, api: EmbeddingApi) -> bool {
        match api {
            EmbeddingApi::OpenAi => matches!(self.api, ProviderApi::OpenAi(_)),
            EmbeddingApi::Gemini | EmbeddingApi::GeminiBatch => self.api == ProviderApi::Gemini,
        }
    }

    /// The request for embeddings of a client whose API the provider speaks.
    ///
    /// # Errors
    /// As [`crate::Passed::read`], or a document of Google's API names another model than its path.
    pub fn passed_embedding_request(
        &self,
        api: EmbeddingApi,
        body: &[u8],
        bytes_max: usize,
        model: &str,
    ) -> Result<ProviderRequest, Unsupported> {
        let verb = match api {
            EmbeddingApi::OpenAi => {
                let change = PassedChange { model: Some(model), ..PassedChange::default() };
                return Ok(self.with_head(self.openai_base(), "/embeddings", passed_body(body, bytes_max, change)?));
            }
            EmbeddingApi::Gemini => "embedContent",
            EmbeddingApi::GeminiBatch => "batchEmbedContents",
        };
        let body = passed_gemini_body(body, bytes_max, model)?;
        Ok(self.with_head(GEMINI_BASE, &format!("/models/{}:{verb}", segment(model)), body))
    }

    /// The request for embeddings.
    ///
    /// # Errors
    /// The provider has none, or none that can be translated.
    pub fn embedding_request(&self, ask: &EmbeddingAsk) -> Result<ProviderRequest, Unsupported> {
        match self.api {
            ProviderApi::OpenAi(_) => Ok(self.with_head(self.openai_base(), "/embeddings", ask.openai_body())),
            ProviderApi::Cohere => Ok(self.with_head("/v2", "/embed", ask.cohere_body()?)),
            ProviderApi::Gemini if !self.is_vertex() => {
                Ok(self.with_head("/v1beta", &format!("/models/{}:batchEmbedContents", segment(&ask.model)), ask.gemini_body()))
            }
            _ => Err(Unsupported {
                field: "model".to_owned(),
                why: "the provider of this model has no embeddings that can be translated".to_owned(),
            }),
        }
    }

    /// Vertex AI has other embeddings than the Gemini API.
    fn is_vertex(&self) -> bool {
        self.base_path.as_deref().is_some_and(|path| path.contains("/publishers/"))
    }

    /// Reads an answer with embeddings and writes it for the client.
    ///
    /// # Errors
    /// It is an error, or broken.
    pub fn embedding_reply(
        &self,
        status: u16,
        body: &[u8],
        bytes_max: usize,
        ask: &EmbeddingAsk,
    ) -> Result<(Vec<u8>, Usage), Fault> {
        match self.api {
            ProviderApi::OpenAi(_) if status < 300 => ask.of_openai(body, bytes_max),
            ProviderApi::Cohere if status < 300 => ask.of_cohere(body, bytes_max),
            ProviderApi::Gemini if status < 300 => ask.of_gemini(body, bytes_max),
            ProviderApi::Cohere => Err(cohere::read_fault(status, body, bytes_max)),
            ProviderApi::Gemini => Err(gemini::read_fault(status, body, bytes_max)),
            _ => Err(openai_chat::read_fault(status, body, bytes_max)),
        }
    }
}
