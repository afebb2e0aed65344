use super::{is_gemini_3_or_later, thinks_by_budget};

#[test]
fn generations_are_read_off_names() {
    for (model, by_budget) in [
        ("claude-3-7-sonnet-20250219", true),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", true),
        ("claude-opus-4@20250514", true),
        ("claude-haiku-4-5", true),
        ("claude-opus-4-6", false),
        ("anthropic.claude-sonnet-5-v1:0", false),
    ] {
        assert_eq!(thinks_by_budget(model), by_budget, "{model}");
    }
    for (model, is_third) in [
        ("gemini-1.5-pro", false),
        ("gemini-2.5-pro", false),
        ("gemini-3-pro-preview", true),
        ("gemini-3.8-flash", true),
        ("gemini-12", true),
        ("gemma-3", false),
    ] {
        assert_eq!(is_gemini_3_or_later(model), is_third, "{model}");
    }
}
