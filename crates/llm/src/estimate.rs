//! How many tokens a prompt takes, before anybody counted them. There is no tokenizer here: each model has another, and some have none in public.
//!
//! The upper estimate holds for every model whose tokens are sequences of bytes: a token has at least one byte, so text has at most as many tokens
//! as bytes. To it come fixed costs for what models add around messages, tools and pictures. The likely estimate is what prose and code take with
//! today's vocabularies: four bytes a token in ASCII, two elsewhere. The ample one is half more for letters and others than ASCII, and a token for
//! each digit and sign, so that text that was made to have many tokens has hardly more.

use crate::form::{Ask, Media, Part, ResponseFormat};

/// Around each message: role, beginning, end. OpenAI documents 3 to 4 tokens.
const MESSAGE: u64 = 8;
/// Around each tool: models write schemas anew, with names between.
const TOOL: u64 = 16;
/// For all tools together: Anthropic documents 264 to 530 tokens of instructions.
const TOOLS: u64 = 600;
/// For each picture: the largest that Anthropic documents is about 4,800 tokens, OpenAI's and Google's below.
const IMAGE: u64 = 5_000;
/// For each document at least: two pages, each as text and as picture.
const DOCUMENT: u64 = 6_000;

/// Tokens of a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// At most so many, except for documents by URL, whose size nobody knows here.
    pub upper: u64,
    /// About so many.
    pub likely: u64,
    /// So many, or somewhat less.
    pub ample: u64,
}

impl Estimate {
    /// The estimate for a document of so many bytes, of which nothing else is known.
    pub fn of_bytes(bytes: u64) -> Self {
        Estimate { upper: bytes, likely: bytes.div_ceil(4), ample: bytes }
    }

    /// The estimate for a request.
    pub fn of(ask: &Ask) -> Self {
        let mut sum = Estimate::default();
        ask.system.iter().for_each(|text| sum.message().text(text));
        for message in &ask.messages {
            sum.message();
            message.parts.iter().for_each(|part| sum.part(part));
        }
        if !ask.tools.is_empty() {
            sum.fixed(TOOLS);
        }
        for tool in &ask.tools {
            sum.fixed(TOOL);
            sum.text(&tool.name);
            sum.text(tool.description.as_deref().unwrap_or_default());
            sum.text(&tool.schema);
        }
        if let ResponseFormat::Schema { schema, .. } = &ask.response_format {
            sum.text(schema);
        }
        sum
    }

    /// The estimate for a text alone.
    pub fn of_text(text: &str) -> Self {
        let mut sum = Estimate::default();
        sum.text(text);
        sum
    }

    fn message(&mut self) -> &mut Self {
        self.fixed(MESSAGE);
        self
    }

    fn fixed(&mut self, tokens: u64) {
        self.upper = self.upper.saturating_add(tokens);
        self.likely = self.likely.saturating_add(tokens / 2);
        self.ample = self.ample.saturating_add(tokens);
    }

    fn text(&mut self, text: &str) {
        let bytes = text.len() as u64;
        let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
        self.upper = self.upper.saturating_add(bytes);
        self.likely = self.likely.saturating_add(ascii.div_ceil(4) + (bytes - ascii).div_ceil(2));
        let letters = text.bytes().filter(|byte| byte.is_ascii_alphabetic() || *byte == b' ').count() as u64;
        let ample = (letters * 3).div_ceil(8) + (ascii - letters) + ((bytes - ascii) * 3).div_ceil(4);
        self.ample = self.ample.saturating_add(ample);
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => self.text(text),
            Part::Image(_) => self.fixed(IMAGE),
            Part::Document(Media::Text(text), _) => self.text(text),
            // What is in a document is at most its bytes, which are three quarters of those in base64; texts within are compressed by less than that.
            Part::Document(Media::Base64 { data, .. }, _) => self.fixed(DOCUMENT.max(data.len() as u64)),
            Part::Document(Media::Url(_), _) => self.fixed(DOCUMENT),
            Part::ToolCall(call) => {
                self.fixed(TOOL);
                self.text(&call.name);
                self.text(&call.arguments);
            }
            Part::ToolResult(result) => {
                self.fixed(TOOL);
                // Results have no results again, so this is one level.
                for part in &result.parts {
                    match part {
                        Part::ToolResult(_) => {}
                        part => self.part(part),
                    }
                }
            }
            Part::Reasoning(part) => {
                self.text(&part.text);
                self.text(part.redacted.as_deref().unwrap_or_default());
            }
        }
    }
}

#[cfg(test)]
mod tests;
