//! The APIs that clients speak, by name: each call goes to the files of its API.

use crate::answer::AnswerContext;
use crate::form::{Ask, Event, Fault, FaultKind, Reply, Unsupported};
use crate::{anthropic, gemini, openai_chat, openai_responses};

/// An API that clients speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientApi {
    /// `POST /v1/chat/completions`.
    OpenAiChat,
    /// `POST /v1/responses`.
    OpenAiResponses,
    /// `POST /v1/messages`.
    AnthropicMessages,
    /// Google's `POST /v1beta/models/NAME:generateContent` and `:streamGenerateContent`, whose paths are in their documents (see
    /// [`crate::GeminiPath`]).
    Gemini,
}

impl ClientApi {
    /// Reads a request of at most so many bytes.
    ///
    /// # Errors
    /// It is broken, or has a member without counterpart.
    pub fn read(self, body: &[u8], bytes_max: usize) -> Result<Ask, Unsupported> {
        match self {
            ClientApi::OpenAiChat => openai_chat::read_request(body, bytes_max),
            ClientApi::OpenAiResponses => openai_responses::read_request(body, bytes_max),
            ClientApi::AnthropicMessages => anthropic::read_request(body, bytes_max),
            ClientApi::Gemini => gemini::read_request(body, bytes_max),
        }
    }

    /// The body of a whole answer.
    ///
    /// # Errors
    /// The provider's answer has what the API cannot say.
    pub fn write_reply(self, reply: &Reply, answer: &AnswerContext) -> Result<Vec<u8>, Fault> {
        match self {
            ClientApi::OpenAiChat => Ok(openai_chat::write_reply(reply, answer)),
            ClientApi::OpenAiResponses => Ok(openai_responses::write_reply(reply, answer)),
            ClientApi::AnthropicMessages => anthropic::write_reply(reply, answer),
            ClientApi::Gemini => gemini::write_reply(reply, answer),
        }
    }

    /// Status and body of an error.
    pub fn write_fault(self, fault: &Fault) -> (u16, Vec<u8>) {
        match self {
            ClientApi::OpenAiChat | ClientApi::OpenAiResponses => (fault.status, openai_chat::write_fault(fault)),
            ClientApi::AnthropicMessages => {
                // Anthropic's clients know a status of their own.
                let status = if fault.kind == FaultKind::Overloaded { 529 } else { fault.status };
                (status, anthropic::write_fault(fault))
            }
            ClientApi::Gemini => {
                // That status is Anthropic's alone.
                let status = if fault.status == 529 { 503 } else { fault.status };
                (status, gemini::write_fault(&Fault { status, ..fault.clone() }))
            }
        }
    }

    /// A writer of the bytes of one stream, a `text/event-stream`.
    pub fn stream(self, answer: AnswerContext) -> ClientWriter {
        ClientWriter(match self {
            ClientApi::OpenAiChat => Inner::OpenAiChat(openai_chat::ChatStream::new(answer)),
            ClientApi::OpenAiResponses => Inner::OpenAiResponses(Box::new(openai_responses::ResponsesStream::new(answer))),
            ClientApi::AnthropicMessages => Inner::Anthropic(anthropic::MessagesStream::new(answer)),
            ClientApi::Gemini => Inner::Gemini(Box::new(gemini::GeminiStream::new(answer))),
        })
    }

    /// The member of a request of this API that a refusal by a provider means.
    pub fn field(self, refused: Unsupported) -> Unsupported {
        let field = match (self, refused.field.as_str()) {
            (ClientApi::OpenAiChat, "reasoning") => "reasoning_effort",
            (ClientApi::OpenAiResponses, "response_format") => "text.format",
            (ClientApi::OpenAiResponses, "messages") => "input",
            (ClientApi::AnthropicMessages, "reasoning") => "thinking",
            (ClientApi::AnthropicMessages, "response_format") => "output_config.format",
            (ClientApi::AnthropicMessages, "stop") => "stop_sequences",
            (ClientApi::Gemini, "messages") => "contents",
            (ClientApi::Gemini, "tool_choice") => "toolConfig.functionCallingConfig",
            (ClientApi::Gemini, "reasoning") => "generationConfig.thinkingConfig",
            (ClientApi::Gemini, "response_format") => "generationConfig.responseMimeType",
            (ClientApi::Gemini, "temperature") => "generationConfig.temperature",
            (ClientApi::Gemini, "top_k") => "generationConfig.topK",
            (ClientApi::Gemini, "seed") => "generationConfig.seed",
            (ClientApi::Gemini, "stop") => "generationConfig.stopSequences",
            (ClientApi::Gemini, "frequency_penalty") => "generationConfig.frequencyPenalty",
            (ClientApi::Gemini, "presence_penalty") => "generationConfig.presencePenalty",
            _ => return refused,
        };
        Unsupported { field: field.to_owned(), ..refused }
    }
}

/// Writes the bytes of one stream.
#[derive(Debug)]
pub struct ClientWriter(Inner);

#[derive(Debug)]
enum Inner {
    OpenAiChat(openai_chat::ChatStream),
    OpenAiResponses(Box<openai_responses::ResponsesStream>),
    Anthropic(anthropic::MessagesStream),
    Gemini(Box<gemini::GeminiStream>),
}

impl ClientWriter {
    /// Writes what the client gets of an event.
    pub fn write(&mut self, event: &Event, out: &mut Vec<u8>) {
        match &mut self.0 {
            Inner::OpenAiChat(stream) => stream.write(event, out),
            Inner::OpenAiResponses(stream) => stream.write(event, out),
            Inner::Anthropic(stream) => stream.write(event, out),
            Inner::Gemini(stream) => stream.write(event, out),
        }
    }
}
