//! What clients can call.

use http::{HeaderMap, Method};
use tollgate_llm::{ClientApi, MediaCall};

/// A call by its method and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// A conversation.
    Talk(ClientApi),
    /// `POST /v1/embeddings`.
    Embeddings,
    /// `POST /v1/messages/count_tokens`.
    CountTokens,
    /// Sound, pictures and moderations.
    Media(MediaCall),
    /// `GET /v1/models`.
    Models,
    /// `GET /v1/models/NAME`.
    Model(String),
}

impl Surface {
    /// What a request calls. Only the listen path may stand before `/v1/`: rules for paths hold for what is called.
    pub(crate) fn of(method: &Method, path: &str, listen_path: &str) -> Option<Surface> {
        let below = path.strip_prefix(listen_path.trim_end_matches('/'))?.strip_prefix("/v1/")?;
        Some(match (method.as_str(), below) {
            ("POST", "chat/completions") => Surface::Talk(ClientApi::OpenAiChat),
            ("POST", "responses") => Surface::Talk(ClientApi::OpenAiResponses),
            ("POST", "messages") => Surface::Talk(ClientApi::AnthropicMessages),
            ("POST", "embeddings") => Surface::Embeddings,
            ("POST", "messages/count_tokens") => Surface::CountTokens,
            ("POST", below) => {
                let is_it = |call: &MediaCall| call.path().strip_prefix('/') == Some(below);
                Surface::Media(MediaCall::ALL.into_iter().find(is_it)?)
            }
            ("GET", "models") => Surface::Models,
            ("GET", below) => Surface::Model(below.strip_prefix("models/").filter(|name| !name.is_empty())?.to_owned()),
            _ => return None,
        })
    }

    /// The path of a call for an answer, below what stands before it.
    pub(crate) fn path(&self, listen_path: &str) -> Option<String> {
        let name = match self {
            Surface::Talk(ClientApi::OpenAiChat) => "chat/completions",
            Surface::Talk(ClientApi::OpenAiResponses) => "responses",
            Surface::Talk(ClientApi::AnthropicMessages) => "messages",
            Surface::Embeddings => "embeddings",
            Surface::CountTokens => "messages/count_tokens",
            Surface::Media(_) | Surface::Models | Surface::Model(_) => return None,
        };
        Some(format!("{}/v1/{name}", listen_path.trim_end_matches('/')))
    }

    /// The API in whose form the client reads errors.
    pub(crate) fn form(&self, headers: &HeaderMap) -> ClientApi {
        match self {
            Surface::Talk(api) => *api,
            Surface::CountTokens => ClientApi::AnthropicMessages,
            Surface::Embeddings | Surface::Media(_) => ClientApi::OpenAiChat,
            Surface::Models | Surface::Model(_) => form_of(headers),
        }
    }
}

/// The API that a client speaks by its headers: Anthropic's clients tell a version.
pub(crate) fn form_of(headers: &HeaderMap) -> ClientApi {
    if headers.contains_key("anthropic-version") { ClientApi::AnthropicMessages } else { ClientApi::OpenAiChat }
}

#[cfg(test)]
mod tests;
