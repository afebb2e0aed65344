//! What tokens cost, by model. Prices are a provider's list prices on the day that the table names; whoever pays others states them.

use crate::form::Usage;

/// Prices of one model, in millionths of a US dollar for a million tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// The model's name. It stands for its releases too, which have a date or number behind it; a `*` at the end stands for any more letters.
    pub pattern: String,
    /// Of the prompt.
    pub input: u64,
    /// Of the prompt, from the cache.
    pub cached_read: u64,
    /// Of the prompt, into the cache.
    pub cached_write: u64,
    /// Of the answer.
    pub output: u64,
    /// Whether a request with a prompt of more than 200,000 tokens costs twice as much, and its answer half more.
    pub has_long_tier: bool,
}

/// The prompt from which on it is a long one.
const LONG_PROMPT: u64 = 200_000;

/// Prices of models.
#[derive(Clone, Debug, Default)]
pub struct PriceTable {
    own: Vec<Price>,
    built_in: Vec<Price>,
}

/// The day of the built-in prices.
pub const PRICES_OF: &str = "2025-12-01";

/// pattern, input, from the cache, into the cache, output; thousandths of a dollar for a million tokens.
type PriceRow = (&'static str, u64, u64, u64, u64);

const BUILT_IN: &[PriceRow] = &[
    ("gpt-5.1", 1_250, 125, 1_250, 10_000),
    ("gpt-5", 1_250, 125, 1_250, 10_000),
    ("gpt-5-mini", 250, 25, 250, 2_000),
    ("gpt-5-nano", 50, 5, 50, 400),
    ("gpt-5-pro", 15_000, 15_000, 15_000, 120_000),
    ("gpt-4.1", 2_000, 500, 2_000, 8_000),
    ("gpt-4.1-mini", 400, 100, 400, 1_600),
    ("gpt-4.1-nano", 100, 25, 100, 400),
    ("gpt-4o", 2_500, 1_250, 2_500, 10_000),
    ("gpt-4o-mini", 150, 75, 150, 600),
    ("gpt-4-turbo", 10_000, 10_000, 10_000, 30_000),
    ("gpt-3.5-turbo", 500, 500, 500, 1_500),
    ("o1", 15_000, 7_500, 15_000, 60_000),
    ("o3", 2_000, 500, 2_000, 8_000),
    ("o3-mini", 1_100, 550, 1_100, 4_400),
    ("o4-mini", 1_100, 275, 1_100, 4_400),
    ("text-embedding-3-small", 20, 20, 20, 0),
    ("text-embedding-3-large", 130, 130, 130, 0),
    ("text-embedding-ada-002", 100, 100, 100, 0),
    ("claude-opus-4-5", 5_000, 500, 6_250, 25_000),
    ("claude-opus-4-1", 15_000, 1_500, 18_750, 75_000),
    ("claude-opus-4", 15_000, 1_500, 18_750, 75_000),
    ("claude-sonnet-4-5", 3_000, 300, 3_750, 15_000),
    ("claude-sonnet-4", 3_000, 300, 3_750, 15_000),
    ("claude-haiku-4-5", 1_000, 100, 1_250, 5_000),
    ("claude-3-7-sonnet", 3_000, 300, 3_750, 15_000),
    ("claude-3-5-sonnet", 3_000, 300, 3_750, 15_000),
    ("claude-3-5-haiku", 800, 80, 1_000, 4_000),
    ("claude-3-opus", 15_000, 1_500, 18_750, 75_000),
    ("claude-3-haiku", 250, 30, 300, 1_250),
    ("gemini-3-pro", 2_000, 200, 2_000, 12_000),
    ("gemini-2.5-pro", 1_250, 125, 1_250, 10_000),
    ("gemini-2.5-flash", 300, 30, 300, 2_500),
    ("gemini-2.5-flash-lite", 100, 10, 100, 400),
    ("gemini-2.0-flash", 100, 25, 100, 400),
    ("mistral-large", 2_000, 2_000, 2_000, 6_000),
    ("mistral-small", 100, 100, 100, 300),
    ("deepseek-chat", 280, 28, 280, 420),
    ("deepseek-reasoner", 280, 28, 280, 420),
    ("command-a", 2_500, 2_500, 2_500, 10_000),
    ("command-r-plus", 2_500, 2_500, 2_500, 10_000),
    ("command-r", 150, 150, 150, 600),
];

/// Those with another price for long prompts.
const LONG_TIERS: &[&str] = &["claude-sonnet-4-5", "claude-sonnet-4", "gemini-3-pro", "gemini-2.5-pro"];

impl PriceTable {
    /// The built-in prices.
    pub fn built_in() -> Self {
        let price = |(pattern, input, cached_read, cached_write, output): &PriceRow| Price {
            pattern: (*pattern).to_owned(),
            input: input * 1_000,
            cached_read: cached_read * 1_000,
            cached_write: cached_write * 1_000,
            output: output * 1_000,
            has_long_tier: LONG_TIERS.contains(pattern),
        };
        PriceTable { own: Vec::new(), built_in: BUILT_IN.iter().map(price).collect() }
    }

    /// With prices of one's own, which come before all others.
    #[must_use]
    pub fn with(self, own: impl IntoIterator<Item = Price>) -> Self {
        PriceTable { own: own.into_iter().collect(), ..self }
    }

    /// The price of a model: the longest pattern that fits it among one's own, else among the others; of two that are as long, the first. Names may have a path or a vendor's name before
    /// them, as `us.anthropic.claude-sonnet-4-5-v1:0` and `openai/gpt-4o`.
    pub fn of<'t>(&'t self, model: &str) -> Option<&'t Price> {
        let starts = model.char_indices().filter(|(_, letter)| matches!(letter, '.' | '/')).map(|(at, _)| at + 1);
        let names: Vec<&str> = std::iter::once(0).chain(starts).take(8).filter_map(|at| model.get(at..)).collect();
        let fits = |price: &&Price| names.iter().any(|name| is_of(&price.pattern, name));
        // `max_by_key` takes the last of several, so the table is read from its end.
        let longest = |prices: &'t [Price]| prices.iter().rev().filter(fits).max_by_key(|price| price.pattern.len());
        longest(&self.own).or_else(|| longest(&self.built_in))
    }
}

fn is_of(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name.strip_prefix(pattern).is_some_and(is_release),
    }
}

/// Whether the rest of a name is a release of the same model: nothing, or a date or number of two digits at least. `gpt-5-mini`, `gpt-5.1` and
/// `claude-opus-4-1` are other models than what they begin with.
fn is_release(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits >= 2 || rest == "latest" || rest.starts_with("preview")
}

impl Price {
    /// What usage costs, in millionths of a US dollar, rounded up.
    pub fn cost(&self, usage: &Usage) -> u64 {
        let usage = usage.bounded();
        let fresh = usage.input - usage.cached_read - usage.cached_write;
        let sum = |parts: &[(u64, u64)]| parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum::<u128>();
        let prompt = sum(&[
            (fresh, self.input),
            (usage.cached_read, self.cached_read),
            (usage.cached_write - usage.cached_write_hour, self.cached_write),
            (usage.cached_write_hour, self.cached_write_hour()),
        ]);
        let answer = sum(&[(usage.output, self.output)]);
        let is_long = self.has_long_tier && usage.input > LONG_PROMPT;
        let whole = if is_long { 2 * prompt + answer + answer / 2 } else { prompt + answer };
        u64::try_from(whole.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// Of the prompt, into a cache that lasts an hour: twice the input where writing into the cache costs more than reading, as at Anthropic.
    pub fn cached_write_hour(&self) -> u64 {
        if self.cached_write > self.input { self.cached_write.max(2 * self.input) } else { self.cached_write }
    }
}

#[cfg(test)]
mod tests;
