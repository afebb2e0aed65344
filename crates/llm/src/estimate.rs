//! How many tokens a prompt takes, before its provider has counted them. Each model has another tokenizer, and some have none in public. Where it is
//! there, it counts the texts, and what follows concerns only the rest.
//!
//! The upper estimate holds for every model whose tokens are sequences of bytes: a token has at least one byte, so text has at most as many tokens
//! as bytes. To it come fixed costs for what models add around messages, tools and pictures. The likely estimate is what prose and code take with
//! today's vocabularies: four bytes a token in ASCII, two elsewhere. The ample one is half more for letters and others than ASCII, and a token for
//! each digit and sign, so that text that was made to have many tokens has hardly more.

use crate::form::{Ask, Media, Part, ResponseFormat};
use crate::tokenizer::Tokenizer;

/// Around each message: role, beginning, end. OpenAI documents 3 to 4 tokens.
const MESSAGE: u64 = 8;
/// Around each tool: models write schemas anew, with names between.
const TOOL: u64 = 16;
/// For all tools together: Anthropic documents 264 to 530 tokens of instructions.
const TOOLS: u64 = 600;
/// For each picture: the largest that Anthropic documents is about 4,800 tokens, Google's and OpenAI's are below, but for one family of models.
const IMAGE: u64 = 5_000;
/// The same for `gpt-4o-mini`: 2,833 and 5,667 for each of up to eight tiles.
const LARGE_IMAGE: u64 = 2_833 + 8 * 5_667;
/// For each document at least: two pages, each as text and as picture.
const DOCUMENT: u64 = 6_000;
/// Most bytes of text that a tokenizer counts for one request, which takes it less than a second at worst.
const COUNTED_BYTES_MAX: usize = 256 << 10;

/// Tokens of a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// At most so many, except for documents of which nobody knows here how many pages they have.
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

    /// The estimate for a request to a model. With the model's tokenizer, texts are counted, those of up to 256 KiB in all.
    pub fn of(ask: &Ask, model: &str, tokenizer: Option<&Tokenizer>) -> Self {
        let mut sum = Estimation::new(tokenizer);
        sum.image = if model.contains("gpt-4o-mini") { LARGE_IMAGE } else { IMAGE };
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
        sum.sum
    }

    /// The estimate for texts alone.
    pub fn of_texts<'t>(texts: impl IntoIterator<Item = &'t str>, tokenizer: Option<&Tokenizer>) -> Self {
        let mut sum = Estimation::new(tokenizer);
        texts.into_iter().for_each(|text| sum.text(text));
        sum.sum
    }
}

/// An estimate that grows.
struct Estimation<'t> {
    sum: Estimate,
    tokenizer: Option<&'t Tokenizer>,
    /// Bytes of text that are still counted.
    counted_left: usize,
    /// Tokens of a picture.
    image: u64,
}

impl<'t> Estimation<'t> {
    fn new(tokenizer: Option<&'t Tokenizer>) -> Self {
        Estimation { sum: Estimate::default(), tokenizer, counted_left: COUNTED_BYTES_MAX, image: IMAGE }
    }

    fn message(&mut self) -> &mut Self {
        self.fixed(MESSAGE);
        self
    }

    fn fixed(&mut self, tokens: u64) {
        self.add(tokens, tokens / 2, tokens);
    }

    fn add(&mut self, upper: u64, likely: u64, ample: u64) {
        let sum = &mut self.sum;
        sum.upper = sum.upper.saturating_add(upper);
        sum.likely = sum.likely.saturating_add(likely);
        sum.ample = sum.ample.saturating_add(ample);
    }

    fn text(&mut self, text: &str) {
        if let Some(tokenizer) = self.tokenizer.filter(|_| text.len() <= self.counted_left) {
            self.counted_left -= text.len();
            let tokens = tokenizer.count(text);
            return self.add(tokens, tokens, tokens);
        }
        let bytes = text.len() as u64;
        let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
        let letters = text.bytes().filter(|byte| byte.is_ascii_alphabetic() || *byte == b' ').count() as u64;
        let ample = (letters * 3).div_ceil(8) + (ascii - letters) + ((bytes - ascii) * 3).div_ceil(4);
        self.add(bytes, ascii.div_ceil(4) + (bytes - ascii).div_ceil(2), ample);
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => self.text(text),
            Part::Image(_) => self.fixed(self.image),
            Part::Document(Media::Text(text), _) => self.text(text),
            // Providers count pages, each as text and as picture, and a small file may have many.
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
            Part::Citation(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
