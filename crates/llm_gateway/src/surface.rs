//! What clients can call.

use http::{HeaderMap, Method, Uri};
use percent_encoding::percent_decode_str;
use tollgate_llm::{ClientApi, EmbeddingApi, Fault, FaultKind, GeminiPath, MediaCall};

/// A call by its method and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// A conversation.
    Talk(ClientApi),
    /// `POST /v1/embeddings`, or Google's `POST /v1beta/models/NAME:embedContent` and `:batchEmbedContents`.
    Embeddings(EmbeddingApi),
    /// `POST /v1/messages/count_tokens`, or Google's `POST /v1beta/models/NAME:countTokens`.
    CountTokens(ClientApi),
    /// Sound, pictures and moderations.
    Media(MediaCall),
    /// `GET /v1/models`, in the form of an API.
    Models(ClientApi),
    /// `GET /v1/models/NAME`.
    Model(String, ClientApi),
}

/// What a request calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Called {
    pub surface: Surface,
    /// What its path says that others say in their documents.
    pub path: Option<GeminiPath>,
}

/// The paths below which APIs are. Google's version is also at OpenAI's, where its calls have a verb behind a colon.
const PLACES: [&str; 2] = ["/v1/", "/v1beta/"];
const GOOGLE: &str = "/v1beta/";

impl Called {
    /// What a request calls. Only the listen path may stand before `/v1/`: rules for paths hold for what is called.
    ///
    /// # Errors
    /// There is no such path, or its query asks for what there is not.
    pub(crate) fn of(method: &Method, uri: &Uri, headers: &HeaderMap, listen_path: &str) -> Result<Called, Fault> {
        let found = below(uri.path(), listen_path).and_then(|(place, below)| match method.as_str() {
            "POST" if below.starts_with("models/") => google_call(below),
            "POST" if place != GOOGLE => Some(Called { surface: posted(below)?, path: None }),
            "GET" => {
                let form = if place == GOOGLE { ClientApi::Gemini } else { form_of(headers) };
                Some(Called { surface: got(below, form)?, path: None })
            }
            _ => None,
        });
        let none = || Fault::new(FaultKind::NotFound, format!("there is no {method} {} here", uri.path()));
        let called = found.ok_or_else(none)?;
        if called.path.as_ref().is_some_and(|path| path.stream) && !asks_events(uri.query().unwrap_or_default()) {
            let why = "`alt`: streams are events here; ask for them with `?alt=sse`";
            return Err(Fault::new(FaultKind::InvalidRequest, why));
        }
        Ok(called)
    }
}

/// A path below that of the API, and where it is.
fn below<'p>(path: &'p str, listen_path: &str) -> Option<(&'static str, &'p str)> {
    let path = path.strip_prefix(listen_path.trim_end_matches('/'))?;
    PLACES.into_iter().find_map(|place| Some((place, path.strip_prefix(place)?)))
}

fn posted(below: &str) -> Option<Surface> {
    Some(match below {
        "chat/completions" => Surface::Talk(ClientApi::OpenAiChat),
        "responses" => Surface::Talk(ClientApi::OpenAiResponses),
        "messages" => Surface::Talk(ClientApi::AnthropicMessages),
        "embeddings" => Surface::Embeddings(EmbeddingApi::OpenAi),
        "messages/count_tokens" => Surface::CountTokens(ClientApi::AnthropicMessages),
        below => {
            let is_it = |call: &MediaCall| call.path().strip_prefix('/') == Some(below);
            Surface::Media(MediaCall::ALL.into_iter().find(is_it)?)
        }
    })
}

fn got(below: &str, form: ClientApi) -> Option<Surface> {
    match below {
        "models" => Some(Surface::Models(form)),
        below => Some(Surface::Model(name(below.strip_prefix("models/")?)?, form)),
    }
}

/// A call of Google's API: the model, and a verb.
fn google_call(below: &str) -> Option<Called> {
    let (model, verb) = below.strip_prefix("models/")?.rsplit_once(':')?;
    let (surface, stream) = match verb {
        "generateContent" => (Surface::Talk(ClientApi::Gemini), false),
        "streamGenerateContent" => (Surface::Talk(ClientApi::Gemini), true),
        "countTokens" => (Surface::CountTokens(ClientApi::Gemini), false),
        "embedContent" => (Surface::Embeddings(EmbeddingApi::Gemini), false),
        "batchEmbedContents" => (Surface::Embeddings(EmbeddingApi::GeminiBatch), false),
        _ => return None,
    };
    Some(Called { surface, path: Some(GeminiPath { model: name(model)?, stream }) })
}

/// The name of a model in a path.
fn name(segments: &str) -> Option<String> {
    let name = percent_decode_str(segments).decode_utf8().ok()?;
    (!name.is_empty()).then(|| name.into_owned())
}

fn asks_events(query: &str) -> bool {
    query.split('&').any(|pair| matches!(pair, "alt=sse" | "$alt=sse" | "%24alt=sse"))
}

impl Surface {
    /// The path of a call for an answer of a model, below what stands before it.
    pub(crate) fn path(&self, listen_path: &str, model: &str) -> Option<String> {
        let name = match self {
            Surface::Talk(ClientApi::OpenAiChat) => "v1/chat/completions",
            Surface::Talk(ClientApi::OpenAiResponses) => "v1/responses",
            Surface::Talk(ClientApi::AnthropicMessages) => "v1/messages",
            Surface::Talk(ClientApi::Gemini) => &format!("v1beta/models/{model}:generateContent"),
            Surface::Embeddings(EmbeddingApi::OpenAi) => "v1/embeddings",
            Surface::Embeddings(EmbeddingApi::Gemini) => &format!("v1beta/models/{model}:embedContent"),
            Surface::Embeddings(EmbeddingApi::GeminiBatch) => &format!("v1beta/models/{model}:batchEmbedContents"),
            Surface::CountTokens(_) | Surface::Media(_) | Surface::Models(_) | Surface::Model(..) => return None,
        };
        Some(format!("{}/{name}", listen_path.trim_end_matches('/')))
    }

    /// The API in whose form the client reads errors.
    pub(crate) fn form(&self) -> ClientApi {
        match self {
            Surface::Talk(api) | Surface::CountTokens(api) | Surface::Models(api) | Surface::Model(_, api) => *api,
            Surface::Embeddings(EmbeddingApi::Gemini | EmbeddingApi::GeminiBatch) => ClientApi::Gemini,
            Surface::Embeddings(EmbeddingApi::OpenAi) | Surface::Media(_) => ClientApi::OpenAiChat,
        }
    }
}

/// The API that a client speaks whose call says nothing of it.
pub(crate) fn form_of_unknown(uri: &Uri, headers: &HeaderMap, listen_path: &str) -> ClientApi {
    match below(uri.path(), listen_path) {
        Some((GOOGLE, _)) => ClientApi::Gemini,
        Some((_, below)) if google_call(below).is_some() => ClientApi::Gemini,
        _ => form_of(headers),
    }
}

/// The API that a client speaks by its headers: Anthropic's clients tell a version, Google's who they are.
fn form_of(headers: &HeaderMap) -> ClientApi {
    const OF_GOOGLE: [&str; 2] = ["x-goog-api-client", "x-goog-api-key"];
    if headers.contains_key("anthropic-version") {
        ClientApi::AnthropicMessages
    } else if OF_GOOGLE.iter().any(|name| headers.contains_key(*name)) {
        ClientApi::Gemini
    } else {
        ClientApi::OpenAiChat
    }
}

#[cfg(test)]
mod tests;
