use super::*;
use tollgate_llm::{Provider, ProviderApi};

#[test]
fn what_a_provider_has_not_told_is_estimated_and_says_so() {
    let price = Price {
        pattern: "m".to_owned(),
        input: 1_000_000,
        cached_read: 0,
        cached_write: 0,
        output: 2_000_000,
        has_long_tier: false,
    };
    let told = Usage { input: 10, output: 5, ..Usage::default() };
    let complete = used(Some(told), true, (99, 99), Some(&price));
    assert_eq!((complete.input_tokens, complete.output_tokens, complete.estimated), (10, 5, false));
    assert_eq!(complete.cost_micro_usd(), 20);
    let begun = used(Some(Usage { input: 10, output: 1, ..Usage::default() }), false, (99, 40), Some(&price));
    assert_eq!((begun.input_tokens, begun.output_tokens, begun.estimated), (10, 10, true));
    let nothing = used(None, true, (7, 8), None);
    assert_eq!((nothing.input_tokens, nothing.output_tokens, nothing.cost_micro_usd(), nothing.estimated), (7, 2, 0, true));
}

#[test]
fn a_picture_is_no_long_text() {
    assert_eq!(likely_tokens(b"one two three four"), 4);
    let picture = format!("a text of words: {}", "QUJD".repeat(100_000));
    assert_eq!(likely_tokens(picture.as_bytes()), 1_000 + 17 / 4);
}

#[test]
fn a_report_sums_its_attempts_and_ends_with_its_last_copy() {
    let calls = Arc::<OpenCalls<LlmCall>>::default();
    let open = calls.open(LlmCall::default()).unwrap();
    let report = Report::of(&calls, Some(open.number));
    let provider = |name: &str| ProviderTerms {
        name: name.to_owned(),
        provider: Provider {
            api: ProviderApi::Anthropic,
            base_path: None,
            credential: tollgate_llm::ProviderCredential::Key("secret".to_owned()),
        },
        more_credentials: Vec::new(),
        origin: format!("https://{name}.example"),
        aws: None,
        time_max: std::time::Duration::ZERO,
        patterns: Vec::new(),
    };
    let usage = |tokens| LlmUsage { output_tokens: tokens, cost_usd: 0.5, ..LlmUsage::default() };
    let first = report.attempt(&provider("a"), "x", (LlmOperation::Chat, "m"));
    first.ends((LlmOutcome::Failed, None), "", Some(usage(1)), None);
    let second = report.attempt(&provider("b"), "y", (LlmOperation::Chat, "m"));
    // The second one was asked before it was known.
    report.explains("a", "it was late");
    second.ends((LlmOutcome::Ok, Some(Stop::OutputLimit)), "", Some(usage(2)), Some("mine"));
    drop((first, second));
    assert!(!open.is_complete());
    drop(report);
    assert!(open.is_complete());
    let stats = open.stats();
    assert_eq!((stats.provider.as_str(), stats.outcome.as_str(), stats.finish.as_str()), ("b", "ok", "length"));
    assert_eq!((stats.budget.as_str(), stats.usage.output_tokens, stats.usage.cost_usd), ("mine", 3, 1.0));
    let shown: Vec<_> = stats.attempts.iter().map(|attempt| (attempt.address.as_str(), attempt.reason.as_str())).collect();
    assert_eq!(shown, [("a.example", "it was late"), ("b.example", "")]);
}
