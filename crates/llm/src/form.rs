//! The one form of requests, answers, streams and errors. Every client API is read into it and written from it, every provider API the other
//! way round, so that each API is known by its own files alone.

use serde::{Deserialize, Serialize};

/// A request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// The model's name.
    pub model: String,
    /// Instructions, in their order: texts.
    pub system: Vec<String>,
    /// The conversation. Roles alternate; no message is empty.
    pub messages: Vec<Message>,
    /// Functions that the model may call.
    pub tools: Vec<Tool>,
    /// Whether it must call one.
    pub tool_choice: Option<ToolChoice>,
    /// Whether it may call several at once.
    pub parallel_tool_calls: Option<bool>,
    /// Bound of the answer, in tokens.
    pub output_tokens_max: Option<u64>,
    /// Randomness.
    pub temperature: Option<f64>,
    /// Share of the probable tokens that are considered.
    pub top_p: Option<f64>,
    /// Number of tokens that are considered.
    pub top_k: Option<u64>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// Start of the randomness.
    pub seed: Option<i64>,
    /// Penalty of frequent tokens.
    pub frequency_penalty: Option<f64>,
    /// Penalty of tokens that were there.
    pub presence_penalty: Option<f64>,
    /// What the answer's text must be.
    pub response_format: ResponseFormat,
    /// How much the model reasons.
    pub reasoning: Option<Reasoning>,
    /// Whether the answer is a stream.
    pub stream: bool,
    /// Whether the client wants usage in its stream.
    pub include_usage: bool,
    /// The end user's name.
    pub user: Option<String>,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Whose turn.
    pub role: Role,
    /// What it says.
    pub parts: Vec<Part>,
}

/// Whose turn a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user's, and results of tools.
    User,
    /// The model's.
    Assistant,
}

/// A part of a message or an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// Text; not empty.
    Text(String),
    /// A picture.
    Image(Media),
    /// A document, with its name.
    Document(Media, Option<String>),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// What a tool said.
    ToolResult(ToolResult),
    /// What the model thought.
    Reasoning(ReasoningPart),
    /// Where what the text before it says comes from; in answers alone.
    Citation(Citation),
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as JSON text. Only answers may have a text that is no object.
    pub arguments: String,
    /// The provider's proof of the thought behind it, which it wants back.
    pub signature: Option<String>,
}

/// What a tool said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The tool's name; empty if the conversation does not have the call.
    pub name: String,
    /// Texts, images and documents.
    pub parts: Vec<Part>,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// What a model thought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReasoningPart {
    /// In words.
    pub text: String,
    /// The provider's proof of the text.
    pub signature: Option<String>,
    /// The thought in a form that only the provider reads; then there is no text.
    pub redacted: Option<String>,
}

/// The citations that belong to the text at this place of an answer's parts.
pub(crate) fn citations_of(parts: &[Part], at: usize) -> Vec<&Citation> {
    let behind = parts.get(at + 1..).unwrap_or_default().iter();
    behind.map_while(|part| if let Part::Citation(citation) = part { Some(citation) } else { None }).collect()
}

/// Where something that an answer says comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The page.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// What is said: from this letter of all texts of the answer, counted from 0.
    pub start: u64,
    /// To this one, which is not part of it.
    pub end: u64,
}

/// Where bytes of a picture or document are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Media {
    /// Elsewhere.
    Url(String),
    /// Here, in base64.
    Base64 {
        /// Their type.
        media_type: String,
        /// The bytes.
        data: String,
    },
    /// Here, as text.
    Text(String),
}

/// A function that the model may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The schema of its arguments, as JSON text of an object.
    pub schema: String,
    /// Whether arguments must fit the schema.
    pub strict: Option<bool>,
}

/// Whether the model must call a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// It must not.
    None,
    /// Any.
    Required,
    /// This one.
    Named(String),
}

/// What the answer's text must be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResponseFormat {
    /// Any text.
    #[default]
    Text,
    /// Any JSON.
    Json,
    /// JSON of this schema.
    Schema {
        /// The schema's name.
        name: String,
        /// What it is for.
        description: Option<String>,
        /// The schema, as JSON text of an object.
        schema: String,
        /// Whether the provider must enforce it.
        strict: Option<bool>,
    },
}

/// How much a model reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reasoning {
    /// Not at all.
    Off,
    /// As much as it likes.
    Adaptive,
    /// By level.
    Effort(Effort),
    /// With this many tokens at most.
    Budget(u64),
}

impl Reasoning {
    /// The level, or the one that a number of tokens comes nearest to.
    pub(crate) fn effort(self) -> Option<Effort> {
        match self {
            Reasoning::Effort(effort) => Some(effort),
            Reasoning::Budget(tokens) => Some(Effort::of_budget(tokens)),
            Reasoning::Off | Reasoning::Adaptive => None,
        }
    }
}

/// A level of reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// The least.
    Minimal,
    /// Little.
    Low,
    /// As usual.
    Medium,
    /// Much.
    High,
    /// More.
    Higher,
    /// The most.
    Max,
}

impl Effort {
    /// The level of a name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "minimal" => Effort::Minimal,
            "low" => Effort::Low,
            "medium" => Effort::Medium,
            "high" => Effort::High,
            "xhigh" => Effort::Higher,
            "max" => Effort::Max,
            _ => return None,
        })
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Higher => "xhigh",
            Effort::Max => "max",
        }
    }

    /// Tokens for providers that want a number: what their own converters use, each level about twice the one below.
    pub(crate) fn budget(self) -> u64 {
        match self {
            Effort::Minimal | Effort::Low => 2_048,
            Effort::Medium => 8_192,
            Effort::High => 16_384,
            Effort::Higher => 24_576,
            Effort::Max => 32_768,
        }
    }

    /// The level that a number of tokens comes nearest to.
    pub(crate) fn of_budget(tokens: u64) -> Self {
        match tokens {
            0..=4_096 => Effort::Low,
            4_097..=12_288 => Effort::Medium,
            _ => Effort::High,
        }
    }
}

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The provider's id; empty if it has none.
    pub id: String,
    /// The model's name as the provider says it; may be empty.
    pub model: String,
    /// What it says, in order.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub stop: Stop,
    /// What it took.
    pub usage: Usage,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// It was complete.
    #[default]
    End,
    /// The bound of its tokens, or of the model's context.
    OutputLimit,
    /// A text of [`Ask::stop`].
    Sequence,
    /// It calls tools.
    ToolCalls,
    /// The provider or the model refused to go on.
    Filtered,
}

/// Tokens of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Of the prompt, with those from the provider's cache and into it.
    pub input: u64,
    /// Of the answer, with reasoning.
    pub output: u64,
    /// Of the prompt, from the cache.
    pub cached_read: u64,
    /// Of the prompt, into the cache.
    pub cached_write: u64,
    /// Of those into the cache, those that stay for an hour.
    #[serde(default)]
    pub cached_write_hour: u64,
    /// Of the answer, for reasoning.
    pub reasoning: u64,
    /// Whether the provider's figures are absent or cannot be: they were bounded, and an estimate is better.
    pub is_doubtful: bool,
}

impl Usage {
    /// Most tokens that one request can take: twice the largest context there is.
    pub const TOKENS_MAX: u64 = 1 << 24;

    /// What is known if the provider says nothing.
    pub const UNKNOWN: Usage =
        Usage { input: 0, output: 0, cached_read: 0, cached_write: 0, cached_write_hour: 0, reasoning: 0, is_doubtful: true };

    /// A figure of the provider: the number, bounded; `None` if it cannot be.
    pub(crate) fn figure(number: Option<f64>) -> Option<u64> {
        number.filter(|number| (0.0..=Usage::TOKENS_MAX as f64).contains(number)).map(|number| number as u64)
    }

    /// These figures, so that parts are no more than the whole.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.is_doubtful |= self.input > Usage::TOKENS_MAX
            || self.output > Usage::TOKENS_MAX
            || self.cached_read.saturating_add(self.cached_write) > self.input
            || self.reasoning > self.output;
        self.input = self.input.min(Usage::TOKENS_MAX);
        self.output = self.output.min(Usage::TOKENS_MAX);
        self.cached_read = self.cached_read.min(self.input);
        self.cached_write = self.cached_write.min(self.input - self.cached_read);
        self.cached_write_hour = self.cached_write_hour.min(self.cached_write);
        self.reasoning = self.reasoning.min(self.output);
        self
    }
}

impl Reply {
    /// Bytes of text, thoughts and arguments in it.
    pub fn text_bytes(&self) -> u64 {
        let bytes = |part: &Part| match part {
            Part::Text(text) => text.len(),
            Part::Reasoning(part) => part.text.len(),
            Part::ToolCall(call) => call.arguments.len(),
            _ => 0,
        };
        self.parts.iter().map(bytes).sum::<usize>() as u64
    }
}

/// A step of a streamed answer. Parts come one after the other: each begins with its first delta (a tool call with [`Event::ToolBegin`]) and
/// ends with [`Event::PartEnd`]. The last event is [`Event::End`] or [`Event::Fault`].
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The first event.
    Begin {
        /// The provider's id; empty if it has none.
        id: String,
        /// The model's name as the provider says it; may be empty.
        model: String,
        /// What the provider says of the prompt at once, if it does.
        usage: Option<Usage>,
    },
    /// More text.
    TextDelta(String),
    /// Where something in the text comes from. The open part is text, perhaps without a delta.
    Citation(Citation),
    /// More of a thought.
    ReasoningDelta(String),
    /// The proof of the thought.
    ReasoningSignature(String),
    /// A whole thought that only the provider reads.
    Redacted(String),
    /// A call of a tool begins; its arguments follow.
    ToolBegin {
        /// Its id.
        id: String,
        /// The tool's name.
        name: String,
        /// As in [`ToolCall`].
        signature: Option<String>,
    },
    /// More of the arguments' JSON text.
    ToolDelta(String),
    /// The part is complete.
    PartEnd,
    /// What it took so far; the last one counts.
    Usage(Usage),
    /// The answer is complete.
    End(Stop),
    /// The provider failed, or its stream broke.
    Fault(Fault),
}

impl Event {
    /// Text, thoughts or arguments in it.
    pub fn text(&self) -> Option<&str> {
        match self {
            Event::TextDelta(text) | Event::ReasoningDelta(text) | Event::ToolDelta(text) => Some(text),
            _ => None,
        }
    }

    /// Bytes of text, thoughts and arguments in it.
    pub fn text_bytes(&self) -> usize {
        self.text().map_or(0, str::len)
    }
}

/// An error of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The HTTP status for the client.
    pub status: u16,
    /// What went wrong.
    pub kind: FaultKind,
    /// In words, of at most [`Fault::MESSAGE_BYTES_MAX`] bytes.
    pub message: String,
}

/// What went wrong at a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The request.
    InvalidRequest,
    /// The gateway's credentials.
    Authentication,
    /// What the credentials allow.
    Permission,
    /// There is no such model.
    NotFound,
    /// The request is too large.
    TooLarge,
    /// Too many requests or tokens.
    RateLimit,
    /// The provider has too much to do.
    Overloaded,
    /// The provider took too long.
    Timeout,
    /// The provider.
    Server,
}

impl FaultKind {
    /// The kind of a status.
    pub fn of_status(status: u16) -> Self {
        match status {
            401 => FaultKind::Authentication,
            402 | 403 => FaultKind::Permission,
            404 => FaultKind::NotFound,
            408 | 504 => FaultKind::Timeout,
            413 => FaultKind::TooLarge,
            429 => FaultKind::RateLimit,
            400..=499 => FaultKind::InvalidRequest,
            503 | 529 => FaultKind::Overloaded,
            _ => FaultKind::Server,
        }
    }

    /// The status of a kind.
    pub fn status(self) -> u16 {
        match self {
            FaultKind::InvalidRequest => 400,
            FaultKind::Authentication => 401,
            FaultKind::Permission => 403,
            FaultKind::NotFound => 404,
            FaultKind::TooLarge => 413,
            FaultKind::RateLimit => 429,
            FaultKind::Overloaded => 503,
            FaultKind::Timeout => 504,
            FaultKind::Server => 502,
        }
    }
}

impl Fault {
    /// Longest message.
    pub const MESSAGE_BYTES_MAX: usize = 4 << 10;

    /// A fault of this kind, with its status.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Fault::with_status(kind.status(), kind, message)
    }

    /// A fault with this status.
    pub fn with_status(status: u16, kind: FaultKind, message: impl Into<String>) -> Self {
        let mut message = message.into();
        message.truncate(message.floor_char_boundary(Fault::MESSAGE_BYTES_MAX));
        Fault { status, kind, message }
    }

    /// The provider said what nobody understands.
    pub(crate) fn broken(why: &str) -> Self {
        Fault::new(FaultKind::Server, format!("the provider's answer is broken: {why}"))
    }

    /// The model said what the client's API has no counterpart for.
    pub(crate) fn without_counterpart(what: &str) -> Self {
        Fault::new(FaultKind::Server, format!("the model's answer has {what}, for which the client's API has no counterpart"))
    }

    /// What nobody understands of an error's body, by its status.
    pub(crate) fn of_status(status: u16) -> Self {
        let status = if (400..=599).contains(&status) { status } else { 502 };
        Fault::with_status(status, FaultKind::of_status(status), format!("the provider answered with status {status}"))
    }
}

/// A part of a client's request that is broken, or that the provider has no counterpart of. Its HTTP status is 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The JSON path; empty for the whole body.
    pub field: String,
    /// Why.
    pub why: String,
}

impl Unsupported {
    /// A refusal of a member.
    pub(crate) fn new(field: impl Into<String>, why: impl Into<String>) -> Self {
        Unsupported { field: field.into(), why: why.into() }
    }

    /// In words.
    pub fn message(&self) -> String {
        let field: String = self.field.chars().take(200).collect();
        if field.is_empty() { self.why.clone() } else { format!("`{field}`: {}", self.why) }
    }

    /// As an error of a provider, which clients of every API understand.
    pub fn fault(&self) -> Fault {
        Fault::new(FaultKind::InvalidRequest, self.message())
    }
}
