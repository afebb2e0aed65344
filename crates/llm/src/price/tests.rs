use super::{Price, PriceTable};
use crate::form::Usage;

#[test]
fn the_longest_pattern_wins_and_own_prices_come_first() {
    let own =
        Price { pattern: "gpt-4o-mini*".to_owned(), input: 1, cached_read: 1, cached_write: 1, output: 1, has_long_tier: false };
    let table = PriceTable::built_in();
    for (model, input) in [
        ("gpt-4o-2024-11-20", 2_500_000),
        ("gpt-4o-mini-2024-07-18", 150_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3_000_000),
        ("openai/gpt-4.1-nano", 100_000),
        ("claude-opus-4-5-20251101", 5_000_000),
        ("claude-opus-4-1", 15_000_000),
        ("gemini-2.0-flash-001", 100_000),
        ("mistral-large-latest", 2_000_000),
        ("command-a-03-2025", 2_500_000),
    ] {
        assert_eq!(table.of(model).map(|price| price.input), Some(input), "{model}");
    }
    // A model that came later has no price rather than that of another.
    for model in ["llama3", "gpt-5.9", "claude-opus-4-9", "gpt-4o-audio", ""] {
        assert_eq!(table.of(model), None, "{model}");
    }
    let any = Price { pattern: "gpt*".to_owned(), input: 2, ..own.clone() };
    let table = table.with([any, own]);
    for (model, input) in [("gpt-4o-mini", 1), ("gpt-4o", 2), ("claude-opus-4-1", 15_000_000)] {
        assert_eq!(table.of(model).map(|price| price.input), Some(input), "{model}");
    }
}

#[test]
fn each_kind_of_token_has_its_price() {
    let price = Price {
        pattern: String::new(),
        input: 1_000_000,
        cached_read: 100_000,
        cached_write: 1_250_000,
        output: 5_000_000,
        has_long_tier: false,
    };
    let usage = Usage { input: 1_000, output: 10, cached_read: 500, cached_write: 100, ..Usage::default() };
    assert_eq!(price.cost(&usage), 400 + 50 + 125 + 50);
    let lie = Usage {
        input: u64::MAX,
        output: u64::MAX,
        cached_read: u64::MAX,
        cached_write: u64::MAX,
        cached_write_hour: u64::MAX,
        reasoning: u64::MAX,
        is_doubtful: false,
    };
    assert!(price.cost(&lie) > 0);
}

#[test]
fn long_prompts_and_caches_for_an_hour_cost_more_where_they_do() {
    let table = PriceTable::built_in();
    let cost = |model: &str, usage: &Usage| table.of(model).map(|price| price.cost(usage));
    let long = |input| Usage { input, output: 1_000_000, ..Usage::default() };
    for (model, below, above) in [
        ("claude-sonnet-4-5", 600_000 + 15_000_000, 1_200_006 + 22_500_000),
        ("gemini-2.5-pro", 250_000 + 10_000_000, 500_003 + 15_000_000),
    ] {
        assert_eq!((cost(model, &long(200_000)), cost(model, &long(200_001))), (Some(below), Some(above)), "{model}");
    }
    assert_eq!(cost("gpt-4.1", &long(200_001)), Some(400_002 + 8_000_000));
    let written = |hour| Usage { input: 1_000_000, cached_write: 1_000_000, cached_write_hour: hour, ..Usage::default() };
    assert_eq!(
        (cost("claude-haiku-4-5", &written(0)), cost("claude-haiku-4-5", &written(400_000))),
        (Some(1_250_000), Some(750_000 + 800_000))
    );
}
