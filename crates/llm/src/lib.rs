//! Traffic of language models between the APIs that clients speak and those that providers answer. Each API is read into one form and written
//! from it ([`Ask`], [`Reply`], [`Event`], [`Fault`]), so that none knows another. What has no counterpart is refused by name and never lost.
//! Nothing here does I/O, has a clock or randomness; what is kept of a stream has a bound.
#![forbid(unsafe_code)]

mod answer;
mod answer_schema;
mod anthropic;
pub mod aws_sigv4;
mod bedrock;
mod beginning;
mod client;
mod cohere;
mod conversation;
mod embedding;
mod estimate;
mod form;
mod gemini;
mod generation;
mod google_account;
mod json;
mod media;
mod multipart;
mod openai_chat;
mod openai_responses;
mod output_bound;
mod passed;
mod price;
mod provider;
mod recorded;
mod request_identity;
mod retry;
mod steps;
mod texts;
mod token_floor;
mod tokenizer;
mod tool_id;
mod watch;

pub use answer::AnswerContext;
pub use answer_schema::answer_schema;
pub use beginning::beginning;
pub use client::{ClientApi, ClientWriter};
pub use embedding::{EmbeddingApi, EmbeddingAsk};
pub use estimate::Estimate;
pub use form::{
    Ask, Effort, Event, Fault, FaultKind, Media, Message, Part, Reasoning, ReasoningPart, Reply, ResponseFormat, Role, Stop, Tool,
    ToolCall, ToolChoice, ToolResult, Unsupported, Usage,
};
pub use gemini::GeminiPath;
pub use generation::hides_thoughts;
pub use google_account::{AccessToken, ServiceAccount};
pub use media::{MediaCall, MediaChange, is_form};
pub use output_bound::{BoundedStream, OutputBound};
pub use passed::{Passed, PassedChange, UsageFilter, passed_body};
pub use price::{PRICES_OF, Price, PriceTable};
pub use provider::{Flavour, Provider, ProviderApi, ProviderCredential, ProviderRequest, ProviderStream};
pub use recorded::{AnswerRecorder, replayed};
pub use request_identity::RequestIdentity;
pub use retry::{RateLimits, Window};
pub use texts::{
    EventText, EventTexts, TextChannel, TextKind, TextPlace, answer_texts, event_texts, request_texts, spliced, text_at,
};
pub use token_floor::TOKEN_BYTES_MAX;
pub use tokenizer::{TextSplit, Tokenizer};
pub use watch::{AnswerFormat, UsageReader};
