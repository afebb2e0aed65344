//! A client's request, and the request for a provider that is made of it.

use crate::caller::CallFacts;
use crate::holdings::Outlook;
use crate::report::Report;
use crate::rooms::Need;
use crate::surface::Surface;
use crate::terms::ProviderTerms;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use hyper::body::Bytes;
use std::sync::{Arc, OnceLock};
use tollgate_llm::aws_sigv4::{AwsScope, sign};
use tollgate_llm::{
    Ask, ClientApi, EmbeddingApi, EmbeddingAsk, Estimate, Fault, FaultKind, Media, MediaCall, MediaChange, Part, Passed, Provider,
    ProviderApi, ProviderRequest, Reasoning, Tokenizer, Unsupported, Usage, hides_thoughts, is_form,
};
use tollgate_outbound::ClientCore;

/// Largest body of a request.
pub(crate) const REQUEST_BYTES_MAX: usize = 8 << 20;

/// The same with files: OpenAI takes sound of 25 MB.
pub(crate) const UPLOAD_BYTES_MAX: usize = 32 << 20;

/// Up to this size of a request, its tokens are counted at once: that takes a millisecond or two at worst.
const COUNTED_AT_ONCE_BYTES_MAX: usize = 2 << 10;

/// Bound of an answer if a budget needs one and nobody states it: every model can write so much.
const OUTPUT_TOKENS: u64 = 4_096;

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
    /// What the data path tells of it.
    pub facts: CallFacts,
    /// What becomes of it, for its record.
    pub report: Report,
    /// The core of the client, if it goes on with a stream that has begun.
    pub core: Option<ClientCore>,
    /// The request in the one form, read when the first provider needs it.
    ask: OnceLock<Result<Arc<Ask>, Unsupported>>,
    /// What the provider has told of tokens, once the answer is over.
    pub usage: Arc<OnceLock<Usage>>,
}

/// What a tokenizer counts.
enum Prompt {
    Talk(Arc<Ask>),
    Texts(Vec<String>),
}

impl Prompt {
    fn counted(&self, model: &str, tokenizer: &Tokenizer) -> Estimate {
        match self {
            Prompt::Talk(ask) => Estimate::of(ask, model, Some(tokenizer)),
            Prompt::Texts(texts) => Estimate::of_texts(texts.iter().map(String::as_str), Some(tokenizer)),
        }
    }
}

/// Bounds of an answer, in tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnswerBounds {
    /// The API's, where the provider needs one.
    pub api: Option<u64>,
    /// That of the budgets, in place of all others.
    pub budget: Option<u64>,
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
    /// The number of a prompt's tokens.
    Count,
}

impl Asked {
    /// Reads a request.
    ///
    /// # Errors
    /// Its body is no JSON object, or has no model.
    pub(crate) fn read(
        surface: Surface,
        form: ClientApi,
        headers: HeaderMap,
        body: Bytes,
        (facts, report, core): (CallFacts, Report, Option<ClientCore>),
    ) -> Result<Self, Fault> {
        let passed = match &surface {
            Surface::Media(call) => {
                let model = call.model(content_type(&headers), &body, UPLOAD_BYTES_MAX);
                model.map(|model| Passed { model, ..Passed::default() })
            }
            _ => Passed::read(&body, REQUEST_BYTES_MAX),
        };
        let passed = passed.map_err(|refused| refused.fault())?;
        let (ask, usage) = (OnceLock::new(), Arc::default());
        let asked = Asked { surface, form, headers, body, passed, facts, report, core, ask, usage };
        asked.report.asks(&asked.passed.model, asked.streams());
        Ok(asked)
    }

    /// Whether it is a form with files, which is no JSON.
    pub(crate) fn is_form(&self) -> bool {
        matches!(self.surface, Surface::Media(_)) && is_form(content_type(&self.headers))
    }

    /// Whether the answer is a stream.
    pub(crate) fn streams(&self) -> bool {
        self.passed.stream && matches!(self.surface, Surface::Talk(_))
    }

    /// What it takes of a provider's limits, rather too little: pictures and files in base64 are no text.
    pub(crate) fn need(&self) -> Need {
        const BYTES_OF_TOKEN: u64 = 4;
        if matches!(self.surface, Surface::Media(_)) {
            return Need::default();
        }
        Need { tokens: text_bytes(&self.body) / BYTES_OF_TOKEN }
    }

    /// The request for a provider, for its model of this name.
    ///
    /// # Errors
    /// The provider has no counterpart of something.
    pub(crate) fn request_for(
        &self,
        provider: &ProviderTerms,
        model: &str,
        bounds: AnswerBounds,
        now_unix_s: u64,
    ) -> Result<(ProviderRequest, Translation), Fault> {
        let made = match &self.surface {
            Surface::Talk(api) => self.talk(*api, &provider.provider, model, bounds),
            Surface::Embeddings(api) => self.embeddings(*api, &provider.provider, model),
            Surface::Media(call) => self.media(*call, &provider.provider, model),
            Surface::CountTokens(api) => return self.count(*api, provider, model),
            Surface::Models(_) | Surface::Model(..) => return Err(Fault::new(FaultKind::NotFound, "there is no such path")),
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

    /// The request in the one form.
    pub(crate) fn ask(&self, api: ClientApi) -> Result<&Arc<Ask>, Unsupported> {
        self.ask.get_or_init(|| api.read(&self.body, REQUEST_BYTES_MAX).map(Arc::new)).as_ref().map_err(Unsupported::clone)
    }

    /// The tokens of its prompt, as the model's tokenizer counts them; `None` if it cannot be read. What takes long is done beside other requests.
    pub(crate) async fn counted(&self, model: &str, tokenizer: Arc<Tokenizer>) -> Option<Estimate> {
        let prompt = match &self.surface {
            Surface::Talk(api) => Prompt::Talk(self.ask(*api).ok()?.clone()),
            Surface::Embeddings(api) => Prompt::Texts(api.read(&self.body, REQUEST_BYTES_MAX).ok()?.texts),
            _ => return None,
        };
        if self.body.len() <= COUNTED_AT_ONCE_BYTES_MAX {
            return Some(prompt.counted(model, &tokenizer));
        }
        let model = model.to_owned();
        tokio::task::spawn_blocking(move || prompt.counted(&model, &tokenizer)).await.ok()
    }

    /// What it may cost. `is_strict`: it must have a bound.
    ///
    /// # Errors
    /// It has none, as far as is known here.
    pub(crate) fn outlook(&self, model: &str, output_tokens_max: Option<u64>, is_strict: bool) -> Result<Outlook, Unsupported> {
        let by_bytes = Estimate::of_bytes(self.body.len() as u64);
        if matches!(self.surface, Surface::Media(_)) {
            return Ok(Outlook { is_free: true, ..Outlook::default() });
        }
        // Google's embeddings take files and pictures too, which the bytes of a request bound as little as documents by URL.
        if let Surface::Embeddings(api @ (EmbeddingApi::Gemini | EmbeddingApi::GeminiBatch)) = &self.surface
            && is_strict
        {
            api.read(&self.body, REQUEST_BYTES_MAX)?;
        }
        let Surface::Talk(api) = &self.surface else { return Ok(Outlook { prompt: by_bytes, ..Outlook::default() }) };
        let hides_thoughts = hides_thoughts(model);
        let ask = match self.ask(*api) {
            Ok(ask) => ask,
            Err(refused) if is_strict => return Err(refused),
            Err(_) => return Ok(Outlook { prompt: by_bytes, hides_thoughts, ..Outlook::default() }),
        };
        if is_strict && has_unbounded_document(ask) {
            let why = "a document with pages has no bound that is known, which a budget needs".to_owned();
            return Err(Unsupported { field: "messages".to_owned(), why });
        }
        let stated = ask.output_tokens_max.or(output_tokens_max);
        let thoughts = if let Some(Reasoning::Budget(tokens)) = ask.reasoning { tokens.saturating_add(1) } else { 0 };
        Ok(Outlook {
            prompt: Estimate::of(ask, model, None),
            output_max: stated.unwrap_or(OUTPUT_TOKENS),
            output_least: thoughts,
            is_stated: stated.is_some(),
            hides_thoughts,
            ..Outlook::default()
        })
    }

    fn talk(
        &self,
        api: ClientApi,
        provider: &Provider,
        model: &str,
        bounds: AnswerBounds,
    ) -> Result<(ProviderRequest, Translation), Unsupported> {
        if provider.speaks(api) {
            let request = provider.passed_request(api, &self.body, REQUEST_BYTES_MAX, Some(model), bounds.budget)?;
            let hides_usage = api == ClientApi::OpenAiChat && self.passed.stream && !self.passed.include_usage;
            return Ok((request, Translation::None { hides_usage }));
        }
        let ask = self.ask(api)?;
        let mut sent = Ask { model: model.to_owned(), ..Ask::clone(ask) };
        if provider.api == ProviderApi::Anthropic {
            sent.output_tokens_max = sent.output_tokens_max.or(bounds.api);
        }
        sent.output_tokens_max = bounds.budget.or(sent.output_tokens_max);
        let request = provider.request(&sent).map_err(|refused| api.field(refused))?;
        Ok((request, Translation::Talk(Box::new(Ask::clone(ask)), api)))
    }

    fn embeddings(
        &self,
        api: EmbeddingApi,
        provider: &Provider,
        model: &str,
    ) -> Result<(ProviderRequest, Translation), Unsupported> {
        if provider.speaks_embeddings(api) {
            let request = provider.passed_embedding_request(api, &self.body, REQUEST_BYTES_MAX, model)?;
            return Ok((request, Translation::None { hides_usage: false }));
        }
        let ask = api.read(&self.body, REQUEST_BYTES_MAX)?;
        let request = provider.embedding_request(&EmbeddingAsk { model: model.to_owned(), ..ask.clone() })?;
        Ok((request, Translation::Embeddings(ask)))
    }

    fn media(&self, call: MediaCall, provider: &Provider, model: &str) -> Result<(ProviderRequest, Translation), Unsupported> {
        let random = [(); 3].map(|()| getrandom::u64().unwrap_or_default());
        let boundary = format!("{:016x}{:016x}{:016x}", random[0], random[1], random[2]);
        let content = (content_type(&self.headers), &*self.body);
        let request = provider.media_request(call, content, UPLOAD_BYTES_MAX, MediaChange { model, boundary: &boundary })?;
        Ok((request, Translation::None { hides_usage: false }))
    }

    fn count(&self, api: ClientApi, provider: &ProviderTerms, model: &str) -> Result<(ProviderRequest, Translation), Fault> {
        if let Some(made) = provider.provider.count_request(api, &self.body, REQUEST_BYTES_MAX, model) {
            return Ok((made.map_err(|refused| api.field(refused).fault())?, Translation::Count));
        }
        let counted = provider.provider.passed_count_request(api, &self.body, REQUEST_BYTES_MAX, Some(model));
        let none = || Fault::new(FaultKind::NotFound, "the provider of this model does not count tokens");
        let mut request = counted.ok_or_else(none)?.map_err(|refused| refused.fault())?;
        self.pass_lines(&mut request);
        Ok((request, Translation::None { hides_usage: false }))
    }

    fn pass_lines(&self, request: &mut ProviderRequest) {
        request.headers.extend(self.passed_lines().map(|(name, value)| (name, value.to_owned())));
    }

    /// The client's lines that may go to its provider.
    pub(crate) fn passed_lines(&self) -> impl Iterator<Item = (&'static str, &str)> {
        PASSED_LINES.into_iter().filter_map(|name| Some((name, self.headers.get(name)?.to_str().ok()?)))
    }
}

/// Bytes of a document without those of long words, which no language has.
fn text_bytes(body: &[u8]) -> u64 {
    const WORD_MAX: usize = 256;
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    let words = body.split(|byte| !is_of_word(byte));
    words.map(|word| if word.len() > WORD_MAX { 0 } else { word.len() as u64 + 1 }).sum()
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|line| line.to_str().ok()).unwrap_or_default()
}

/// Whether there is a document of which providers count pages, or that is elsewhere.
fn has_unbounded_document(ask: &Ask) -> bool {
    let is_unbounded = |part: &Part| matches!(part, Part::Document(Media::Url(_) | Media::Base64 { .. }, _));
    ask.messages.iter().flat_map(|message| &message.parts).any(|part| match part {
        Part::ToolResult(result) => result.parts.iter().any(is_unbounded),
        part => is_unbounded(part),
    })
}
