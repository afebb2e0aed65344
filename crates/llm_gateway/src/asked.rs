//! A client's request, and the request for a provider that is made of it.

use crate::surface::Surface;
use crate::terms::ProviderTerms;
use http::HeaderMap;
use hyper::body::Bytes;
use std::sync::OnceLock;
use tollgate_llm::aws_sigv4::{AwsScope, sign};
use tollgate_llm::{Ask, ClientApi, EmbeddingAsk, Fault, FaultKind, Passed, Provider, ProviderApi, ProviderRequest, Unsupported};

/// Largest body of a request.
pub(crate) const REQUEST_BYTES_MAX: usize = 8 << 20;

/// Lines of a client that go to a provider of its own API: what they switch on changes the answer, and they are no credentials.
const PASSED_LINES: [&str; 2] = ["anthropic-beta", "openai-beta"];

/// A request for an answer of a model.
pub(crate) struct Asked {
    pub surface: Surface,
    /// In whose form the client reads.
    pub form: ClientApi,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub passed: Passed,
    /// The request in the one form, read when the first provider needs it.
    ask: OnceLock<Result<Ask, Unsupported>>,
}

/// How an answer gets to the client.
pub(crate) enum Translation {
    /// As it is; `hides_usage`: but for the usage that the client did not ask for.
    None {
        hides_usage: bool,
    },
    /// From the provider's API into the client's.
    Talk(Box<Ask>, ClientApi),
    Embeddings(EmbeddingAsk),
}

impl Asked {
    /// Reads a request.
    ///
    /// # Errors
    /// Its body is no JSON object, or has no model.
    pub(crate) fn read(surface: Surface, form: ClientApi, headers: HeaderMap, body: Bytes) -> Result<Self, Fault> {
        let passed = Passed::read(&body, REQUEST_BYTES_MAX).map_err(|refused| refused.fault())?;
        Ok(Asked { surface, form, headers, body, passed, ask: OnceLock::new() })
    }

    /// Whether the answer is a stream.
    pub(crate) fn streams(&self) -> bool {
        self.passed.stream && matches!(self.surface, Surface::Talk(_))
    }

    /// The request for a provider, for its model of this name.
    ///
    /// # Errors
    /// The provider has no counterpart of something.
    pub(crate) fn request_for(
        &self,
        provider: &ProviderTerms,
        model: &str,
        output_tokens_max: Option<u64>,
        now_unix_s: u64,
    ) -> Result<(ProviderRequest, Translation), Fault> {
        let made = match &self.surface {
            Surface::Talk(api) => self.talk(*api, &provider.provider, model, output_tokens_max),
            Surface::Embeddings => self.embeddings(&provider.provider, model),
            Surface::CountTokens => return self.count(provider, model),
            Surface::Models | Surface::Model(_) => return Err(Fault::new(FaultKind::NotFound, "there is no such path")),
        };
        let (mut request, translation) = made.map_err(|refused| refused.fault())?;
        if matches!(translation, Translation::None { .. }) {
            self.pass_lines(&mut request);
        }
        if let Some(aws) = &provider.aws {
            let host = provider.origin.split_once("://").map_or("", |(_, host)| host);
            sign(&mut request, AwsScope { host, region: &aws.region, service: "bedrock" }, &aws.keys, now_unix_s);
        }
        Ok((request, translation))
    }

    fn talk(
        &self,
        api: ClientApi,
        provider: &Provider,
        model: &str,
        output_tokens_max: Option<u64>,
    ) -> Result<(ProviderRequest, Translation), Unsupported> {
        if provider.speaks(api) {
            let request = provider.passed_request(api, &self.body, REQUEST_BYTES_MAX, Some(model))?;
            let hides_usage = api == ClientApi::OpenAiChat && self.passed.stream && !self.passed.include_usage;
            return Ok((request, Translation::None { hides_usage }));
        }
        let read = self.ask.get_or_init(|| api.read(&self.body, REQUEST_BYTES_MAX));
        let ask = read.as_ref().map_err(Unsupported::clone)?;
        let mut sent = Ask { model: model.to_owned(), ..ask.clone() };
        if provider.api == ProviderApi::Anthropic {
            sent.output_tokens_max = sent.output_tokens_max.or(output_tokens_max);
        }
        let request = provider.request(&sent).map_err(|refused| api.field(refused))?;
        Ok((request, Translation::Talk(Box::new(ask.clone()), api)))
    }

    fn embeddings(&self, provider: &Provider, model: &str) -> Result<(ProviderRequest, Translation), Unsupported> {
        if provider.speaks_embeddings() {
            let request = provider.passed_embedding_request(&self.body, REQUEST_BYTES_MAX, Some(model))?;
            return Ok((request, Translation::None { hides_usage: false }));
        }
        let ask = EmbeddingAsk::read(&self.body, REQUEST_BYTES_MAX)?;
        let request = provider.embedding_request(&EmbeddingAsk { model: model.to_owned(), ..ask.clone() })?;
        Ok((request, Translation::Embeddings(ask)))
    }

    fn count(&self, provider: &ProviderTerms, model: &str) -> Result<(ProviderRequest, Translation), Fault> {
        let counted = provider.provider.passed_count_request(&self.body, REQUEST_BYTES_MAX, Some(model));
        let none = || Fault::new(FaultKind::NotFound, "the provider of this model does not count tokens");
        let mut request = counted.ok_or_else(none)?.map_err(|refused| refused.fault())?;
        self.pass_lines(&mut request);
        Ok((request, Translation::None { hides_usage: false }))
    }

    fn pass_lines(&self, request: &mut ProviderRequest) {
        for name in PASSED_LINES {
            let value = self.headers.get(name).and_then(|value| value.to_str().ok());
            request.headers.extend(value.map(|value| (name, value.to_owned())));
        }
    }
}
