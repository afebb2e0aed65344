//! Watches answers that pass untouched, or that are translated: usage, reason to stop, and how much text there was. It keeps a fixed number of
//! bytes (see [`UsageReader`]), whatever passes.

mod scanner;

use crate::anthropic::{self, UsageState};
use crate::client::ClientApi;
use crate::form::{Stop, Usage};
use crate::json::JsonNode;
use crate::{gemini, openai_chat, openai_responses};
use scanner::{Find, ScanHit, Scanner};

/// What an answer is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFormat {
    /// OpenAI's Chat Completions, and embeddings.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's generateContent.
    Gemini,
}

impl From<ClientApi> for AnswerFormat {
    /// The format of answers that pass to clients of an API.
    fn from(api: ClientApi) -> Self {
        match api {
            ClientApi::OpenAiChat => AnswerFormat::OpenAiChat,
            ClientApi::OpenAiResponses => AnswerFormat::OpenAiResponses,
            ClientApi::AnthropicMessages => AnswerFormat::Anthropic,
            ClientApi::Gemini => AnswerFormat::Gemini,
        }
    }
}

/// Reads what an answer took from its bytes, in whatever pieces they come: one JSON document, or a `text/event-stream`. It keeps one object of
/// usage of at most 4 KiB, one word of at most 64 bytes and a bit for each open bracket, at most 128.
#[derive(Debug)]
pub struct UsageReader {
    api: AnswerFormat,
    scanner: Scanner,
    line: Option<Line>,
    sums: UsageState,
    usage: Option<Usage>,
    stop: Option<Stop>,
    is_error: bool,
}

/// Where in a line of a stream the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// So many bytes of `data:` were there.
    Prefix(usize),
    Data,
    Other,
}

const PREFIX: &[u8] = b"data:";

impl UsageReader {
    /// A reader of one answer.
    pub fn new(api: AnswerFormat, is_stream: bool) -> Self {
        let texts: &[&str] = match (api, is_stream) {
            (AnswerFormat::OpenAiChat, _) => &["content", "reasoning_content", "reasoning", "arguments", "refusal"],
            (AnswerFormat::OpenAiResponses, false) => &["text", "arguments", "refusal"],
            // The events at the end repeat the whole text under other names.
            (AnswerFormat::OpenAiResponses, true) => &["delta"],
            (AnswerFormat::Anthropic, _) => &["text", "thinking", "partial_json"],
            (AnswerFormat::Gemini, _) => &["text"],
        };
        let (object, words): (_, &[&str]) = match api {
            AnswerFormat::OpenAiChat => ("usage", &["finish_reason"]),
            // Events of errors have no object for it.
            AnswerFormat::OpenAiResponses => ("usage", &["status", "type"]),
            AnswerFormat::Anthropic => ("usage", &["stop_reason"]),
            // A prompt that is blocked has no answer.
            AnswerFormat::Gemini => ("usageMetadata", &["finishReason", "blockReason"]),
        };
        UsageReader {
            api,
            scanner: Scanner::new(Find { object, words, texts }),
            line: is_stream.then_some(Line::Prefix(0)),
            sums: UsageState::default(),
            usage: None,
            stop: None,
            is_error: false,
        }
    }

    /// Reads more bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((byte, behind)) = rest.split_first() {
            rest = behind;
            if !self.is_data(*byte) {
                continue;
            }
            match self.scanner.push(*byte) {
                Some(found) => self.note(&found),
                None => rest = rest.get(self.scanner.take_text(rest)..).unwrap_or_default(),
            }
        }
    }

    /// Whether a byte belongs to a document.
    fn is_data(&mut self, byte: u8) -> bool {
        let Some(line) = self.line else { return true };
        let next = match line {
            _ if matches!(byte, b'\n' | b'\r') => Line::Prefix(0),
            Line::Prefix(at) if PREFIX.get(at) == Some(&byte) && at + 1 < PREFIX.len() => Line::Prefix(at + 1),
            Line::Prefix(at) if PREFIX.get(at) == Some(&byte) => {
                self.scanner.restart();
                Line::Data
            }
            Line::Prefix(_) => Line::Other,
            line => line,
        };
        self.line = Some(next);
        line == Line::Data && next == Line::Data
    }

    fn note(&mut self, found: &ScanHit) {
        match found {
            ScanHit::Object(text) => {
                let Some(usage) = JsonNode::read(text, text.len()).ok().and_then(JsonNode::object) else { return };
                self.usage = Some(match self.api {
                    AnswerFormat::OpenAiChat => openai_chat::read_usage(&usage),
                    AnswerFormat::OpenAiResponses => openai_responses::read_usage(&usage),
                    AnswerFormat::Anthropic => {
                        self.sums.add(&usage);
                        self.sums.usage()
                    }
                    AnswerFormat::Gemini => gemini::read_usage(&usage),
                });
            }
            ScanHit::Word(word) => {
                let Ok(word) = std::str::from_utf8(word) else { return };
                self.is_error |= self.api == AnswerFormat::OpenAiResponses && word == "error";
                self.stop = match self.api {
                    AnswerFormat::OpenAiChat => Some(openai_chat::stop_of(word)),
                    AnswerFormat::OpenAiResponses => openai_responses::stop_of(word).or(self.stop),
                    AnswerFormat::Anthropic => Some(anthropic::stop_of(word)),
                    AnswerFormat::Gemini => Some(gemini::stop_of(word).unwrap_or(Stop::End)),
                };
            }
        }
    }

    /// What the answer took, as far as it said it.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Why it ended, if it said it.
    pub fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Whether it told an error.
    pub fn has_error(&self) -> bool {
        self.is_error || self.scanner.has_error()
    }

    /// Bytes of text, thoughts and arguments so far, as JSON writes them.
    pub fn text_bytes(&self) -> u64 {
        self.scanner.text_bytes()
    }
}

#[cfg(test)]
mod tests;
