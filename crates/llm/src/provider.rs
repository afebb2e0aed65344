//! The APIs of providers, by name: where requests go, what their heads say, and which files read and write their bodies.

mod embeddings;
mod stream;

pub use stream::ProviderStream;

use crate::client::ClientApi;
use crate::form::{Ask, Fault, Reply, Unsupported};
use crate::json::{JsonNode, object};
use crate::openai_chat::ChatDialect;
use crate::passed::{Passed, PassedChange, passed_body};
use crate::tool_id::IdRule;
use crate::{anthropic, bedrock, cohere, gemini, openai_chat};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// A provider's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderApi {
    /// OpenAI's Chat Completions, and what differs from them.
    OpenAi(Flavour),
    /// Anthropic's Messages.
    Anthropic,
    /// Google's generateContent. For Vertex AI, the base path ends with `/publishers/google`.
    Gemini,
    /// Amazon Bedrock's Converse. Requests are signed with [`crate::aws_sigv4::sign`], or have a bearer token.
    Bedrock,
    /// Cohere's chat, version 2.
    Cohere,
}

/// Servers of OpenAI's API, which differ by paths and headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// OpenAI itself.
    OpenAi,
    /// Azure OpenAI.
    Azure,
    /// vLLM.
    Vllm,
    /// Ollama.
    Ollama,
    /// llama.cpp.
    LlamaCpp,
    /// Mistral.
    Mistral,
    /// Groq.
    Groq,
    /// DeepSeek.
    DeepSeek,
    /// OpenRouter.
    OpenRouter,
}

impl Flavour {
    pub(crate) fn base_path(self) -> &'static str {
        match self {
            Flavour::Azure => "/openai/v1",
            Flavour::Groq => "/openai/v1",
            Flavour::OpenRouter => "/api/v1",
            Flavour::DeepSeek => "",
            Flavour::OpenAi | Flavour::Vllm | Flavour::Ollama | Flavour::LlamaCpp | Flavour::Mistral => "/v1",
        }
    }

    fn dialect(self) -> ChatDialect {
        let limit_member = match self {
            Flavour::OpenAi | Flavour::Azure | Flavour::Groq => "max_completion_tokens",
            _ => "max_tokens",
        };
        // Mistral tells usage unasked, and refuses members that it does not know.
        let has_top_k = matches!(self, Flavour::Vllm | Flavour::LlamaCpp | Flavour::OpenRouter);
        let ids = match self {
            Flavour::OpenAi | Flavour::Azure => IdRule::Short,
            Flavour::Mistral => IdRule::Nine,
            _ => IdRule::Any,
        };
        ChatDialect { limit_member, has_top_k, ids, asks_usage: self != Flavour::Mistral }
    }
}

/// What proves to a provider who asks. It is not shown in logs.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum ProviderCredential {
    /// Nothing, or what the caller adds itself.
    #[default]
    None,
    /// The provider's own kind of key.
    Key(String),
    /// A bearer token.
    Bearer(String),
}

impl std::fmt::Debug for ProviderCredential {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(match self {
            ProviderCredential::None => "None",
            ProviderCredential::Key(_) => "Key(..)",
            ProviderCredential::Bearer(_) => "Bearer(..)",
        })
    }
}

/// A provider as requests are made for it.
#[derive(Clone, Debug)]
pub struct Provider {
    /// The API that it answers.
    pub api: ProviderApi,
    /// The path below which it does; `None` for the usual one. A query behind it comes to each request, as Azure's `?api-version=2024-10-21`.
    pub base_path: Option<String>,
    /// The gateway's credential.
    pub credential: ProviderCredential,
}

/// A request for a provider. Its host is the caller's matter, its headers are not shown in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderRequest {
    /// The method.
    pub method: &'static str,
    /// Path and query.
    pub path_and_query: String,
    /// Headers, besides those of the connection; names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl std::fmt::Debug for ProviderRequest {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "{} {}, {} bytes", self.method, self.path_and_query, self.body.len())
    }
}

/// The version of Anthropic's API that is spoken here.
const ANTHROPIC_VERSION: &str = "2023-06-01";

impl Provider {
    /// Whether clients of an API are understood without translation.
    pub fn speaks(&self, api: ClientApi) -> bool {
        match api {
            ClientApi::OpenAiChat => matches!(self.api, ProviderApi::OpenAi(_)),
            ClientApi::OpenAiResponses => matches!(self.api, ProviderApi::OpenAi(Flavour::OpenAi | Flavour::Azure)),
            ClientApi::AnthropicMessages => self.api == ProviderApi::Anthropic,
            ClientApi::Gemini => self.api == ProviderApi::Gemini,
        }
    }

    /// The request for an ask.
    ///
    /// # Errors
    /// The provider has no counterpart of a member.
    pub fn request(&self, ask: &Ask) -> Result<ProviderRequest, Unsupported> {
        let body = match self.api {
            ProviderApi::OpenAi(flavour) => openai_chat::write_request(ask, flavour.dialect())?,
            ProviderApi::Anthropic => anthropic::write_request(ask)?,
            ProviderApi::Gemini => gemini::write_request(ask)?,
            ProviderApi::Bedrock => bedrock::write_request(ask)?,
            ProviderApi::Cohere => cohere::write_request(ask)?,
        };
        let (base, path) = match self.api {
            ProviderApi::OpenAi(flavour) => (flavour.base_path(), "/chat/completions".to_owned()),
            ProviderApi::Anthropic => ("/v1", "/messages".to_owned()),
            ProviderApi::Gemini => (GEMINI_BASE, gemini_path(&ask.model, ask.stream)),
            ProviderApi::Bedrock => {
                let call = if ask.stream { "converse-stream" } else { "converse" };
                ("", format!("/model/{}/{call}", segment(&ask.model)))
            }
            ProviderApi::Cohere => ("/v2", "/chat".to_owned()),
        };
        Ok(self.with_head(base, &path, body))
    }

    /// The request of a client whose API the provider speaks. `output_tokens_max` takes the place of the client's bound.
    ///
    /// # Errors
    /// As [`crate::Passed::read`].
    pub fn passed_request(
        &self,
        api: ClientApi,
        body: &[u8],
        bytes_max: usize,
        model: Option<&str>,
        output_tokens_max: Option<u64>,
    ) -> Result<ProviderRequest, Unsupported> {
        if api == ClientApi::Gemini {
            let (path, body) = gemini::passed_body(body, bytes_max, output_tokens_max)?;
            let path = gemini_path(model.unwrap_or(&path.model), path.stream);
            return Ok(self.with_head(GEMINI_BASE, &path, body));
        }
        let asks_usage = match self.api {
            ProviderApi::OpenAi(flavour) => api == ClientApi::OpenAiChat && flavour.dialect().asks_usage,
            _ => false,
        };
        let member = match (api, self.api) {
            (ClientApi::OpenAiChat, ProviderApi::OpenAi(flavour)) => flavour.dialect().limit_member,
            (ClientApi::OpenAiResponses, _) => "max_output_tokens",
            _ => "max_tokens",
        };
        let output_tokens_max = output_tokens_max.map(|tokens| (member, tokens));
        let body = passed_body(body, bytes_max, PassedChange { model, asks_usage, output_tokens_max })?;
        let base = self.openai_base();
        let path = match api {
            ClientApi::OpenAiChat => "/chat/completions",
            ClientApi::OpenAiResponses => "/responses",
            ClientApi::AnthropicMessages | ClientApi::Gemini => "/messages",
        };
        Ok(self.with_head(base, path, body))
    }

    /// The request to count the tokens of a prompt of Anthropic's or Google's API; `None` if the provider has no such thing.
    pub fn passed_count_request(
        &self,
        api: ClientApi,
        body: &[u8],
        bytes_max: usize,
        model: Option<&str>,
    ) -> Option<Result<ProviderRequest, Unsupported>> {
        self.speaks(api).then(|| {
            if api == ClientApi::Gemini {
                let asked = Passed::read(body, bytes_max)?.model;
                let model = model.unwrap_or(&asked);
                let body = gemini::passed_count_body(body, bytes_max, model)?;
                return Ok(self.with_head(GEMINI_BASE, &format!("/models/{}:countTokens", segment(model)), body));
            }
            let body = passed_body(body, bytes_max, PassedChange { model, ..PassedChange::default() })?;
            Ok(self.with_head("/v1", "/messages/count_tokens", body))
        })
    }

    /// The request to count the tokens of a prompt of Anthropic's API by Google's; `None` if the provider, or the API, is another.
    pub fn count_request(
        &self,
        api: ClientApi,
        body: &[u8],
        bytes_max: usize,
        model: &str,
    ) -> Option<Result<ProviderRequest, Unsupported>> {
        let fits = self.api == ProviderApi::Gemini && api == ClientApi::AnthropicMessages;
        fits.then(|| {
            let ask = Ask { model: model.to_owned(), stream: false, ..anthropic::read_count(body, bytes_max)? };
            let asked = gemini::write_request(&ask)?;
            // Vertex AI counts what stands in the question itself, the Gemini API a request within.
            let is_vertex = self.base_path.as_deref().is_some_and(|base| base.ends_with("/publishers/google"));
            let body = if is_vertex { asked } else { gemini::count_body(&asked, model) };
            Ok(self.with_head(GEMINI_BASE, &format!("/models/{}:countTokens", segment(model)), body))
        })
    }

    /// The answer to it in Anthropic's form.
    ///
    /// # Errors
    /// It is an error, or broken.
    pub fn count_reply(&self, status: u16, body: &[u8], bytes_max: usize) -> Result<Vec<u8>, Fault> {
        if !(200..300).contains(&status) {
            return Err(gemini::read_fault(status, body, bytes_max));
        }
        let told = JsonNode::read(body, bytes_max).map_err(Fault::broken)?.object();
        let tokens = told.and_then(|told| told.get("totalTokens")?.whole()).ok_or_else(|| Fault::broken("it has no tokens"))?;
        let mut written = Vec::new();
        object(&mut written, |out| out.whole("input_tokens", tokens));
        Ok(written)
    }

    /// The usual path below which OpenAI's API is.
    fn openai_base(&self) -> &'static str {
        match self.api {
            ProviderApi::OpenAi(flavour) => flavour.base_path(),
            _ => "/v1",
        }
    }

    pub(crate) fn with_head(&self, base: &str, path: &str, body: Vec<u8>) -> ProviderRequest {
        let base = self.base_path.as_deref().unwrap_or(base);
        let path_and_query = match base.split_once('?') {
            None => format!("{base}{path}"),
            Some((base, query)) => format!("{base}{path}{}{query}", if path.contains('?') { '&' } else { '?' }),
        };
        let mut headers = vec![("content-type", "application/json".to_owned())];
        if self.api == ProviderApi::Anthropic {
            headers.push(("anthropic-version", ANTHROPIC_VERSION.to_owned()));
        }
        match (&self.credential, self.api) {
            (ProviderCredential::None, _) => {}
            (ProviderCredential::Key(key), ProviderApi::Anthropic) => headers.push(("x-api-key", key.clone())),
            (ProviderCredential::Key(key), ProviderApi::Gemini) => headers.push(("x-goog-api-key", key.clone())),
            (ProviderCredential::Key(key), ProviderApi::OpenAi(Flavour::Azure)) => headers.push(("api-key", key.clone())),
            (ProviderCredential::Key(key) | ProviderCredential::Bearer(key), _) => {
                headers.push(("authorization", format!("Bearer {key}")))
            }
        }
        ProviderRequest { method: "POST", path_and_query, headers, body }
    }

    /// Reads a whole answer of at most so many bytes.
    ///
    /// # Errors
    /// It is an error, or broken.
    pub fn reply(&self, status: u16, body: &[u8], bytes_max: usize) -> Result<Reply, Fault> {
        let is_ok = (200..300).contains(&status);
        match self.api {
            ProviderApi::OpenAi(_) if is_ok => openai_chat::read_reply(body, bytes_max),
            ProviderApi::OpenAi(_) => Err(openai_chat::read_fault(status, body, bytes_max)),
            ProviderApi::Anthropic if is_ok => anthropic::read_reply(body, bytes_max),
            ProviderApi::Anthropic => Err(anthropic::read_fault(status, body, bytes_max)),
            ProviderApi::Gemini if is_ok => gemini::read_reply(body, bytes_max),
            ProviderApi::Gemini => Err(gemini::read_fault(status, body, bytes_max)),
            ProviderApi::Bedrock if is_ok => bedrock::read_reply(body, bytes_max),
            ProviderApi::Bedrock => Err(bedrock::read_fault(status, body, bytes_max)),
            ProviderApi::Cohere if is_ok => cohere::read_reply(body, bytes_max),
            ProviderApi::Cohere => Err(cohere::read_fault(status, body, bytes_max)),
        }
    }

    /// A reader of one stream whose events have at most so many bytes.
    pub fn stream(&self, event_bytes_max: usize) -> ProviderStream {
        ProviderStream::new(self.api, event_bytes_max)
    }
}

/// The path below which the Gemini API is.
const GEMINI_BASE: &str = "/v1beta";

fn gemini_path(model: &str, streams: bool) -> String {
    let call = if streams { "streamGenerateContent?alt=sse" } else { "generateContent" };
    format!("/models/{}:{call}", segment(model))
}

/// What may stand in a segment of a path as it is: a model's name leads nowhere else.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn segment(name: &str) -> String {
    match name {
        "." | ".." => name.replace('.', "%2E"),
        name => utf8_percent_encode(name, SEGMENT).to_string(),
    }
}
