use super::{Look, look};
use crate::guards::{BuiltIn, Guard, GuardCheck, GuardPattern, GuardTerms, Placeholders};
use std::sync::Arc;
use tollgate_model::api::{GuardAction, GuardSide};

fn guard(action: GuardAction, check: GuardCheck) -> Guard {
    let terms = GuardTerms { name: "g".to_owned(), on: GuardSide::Request, action, dry_run: false, check };
    Guard { terms, figures: Arc::default() }
}

fn personal_data() -> GuardCheck {
    GuardCheck::Patterns(BuiltIn::PERSONAL_DATA.iter().map(|kind| kind.pattern().expect("it compiles")).collect())
}

fn changed(body: &str) -> String {
    match look(&guard(GuardAction::Redact, personal_data()), body.as_bytes(), &mut Placeholders::default()) {
        Look::Changed(body) => String::from_utf8(body).expect("it is text"),
        Look::Fine => "fine".to_owned(),
        Look::Found(why) => format!("found{why}"),
    }
}

#[test]
fn only_what_is_found_changes() {
    let body = r#"{ "model":"m", "messages":[{"role":"user","content":"I am \u0061@b.com, twice a@b.com"}],  "seed":1.0}"#;
    assert_eq!(
        changed(body),
        r#"{ "model":"m", "messages":[{"role":"user","content":"I am [EMAIL_1], twice [EMAIL_1]"}],  "seed":1.0}"#
    );
    assert_eq!(changed(r#"{"model":"a@b.com","messages":[{"role":"user","content":"nothing"}]}"#), "fine");
    let own = r#"{"messages":[{"content":"I write [EMAIL_1]"},{"content":"a@b.com"}]}"#;
    assert_eq!(changed(own), r#"{"messages":[{"content":"I write [EMAIL_1]"},{"content":"[EMAIL_2]"}]}"#);
    let call = r#"{"messages":[{"tool_calls":[{"function":{"arguments":"{\"to\":\"a@b.com\"}"}}]}]}"#;
    assert_eq!(changed(call), r#"{"messages":[{"tool_calls":[{"function":{"arguments":"{\"to\":\"[EMAIL_1]\"}"}}]}]}"#);
}

#[test]
fn too_much_to_take_out_is_refused() {
    let mails: String = (0..20_000).map(|number| format!("a{number}@b.com ")).collect();
    assert!(changed(&format!(r#"{{"messages":[{{"content":"{mails}"}}]}}"#)).starts_with("found"));
}

#[test]
fn lists_and_sizes_say_what_passes() {
    let pattern = |text: &str| vec![GuardPattern::compile("X", text).expect("it compiles")];
    let found = |check: GuardCheck, body: &str| {
        matches!(look(&guard(GuardAction::Refuse, check), body.as_bytes(), &mut Placeholders::default()), Look::Found(_))
    };
    let body = r#"{"model":"bomb","messages":[{"role":"user","content":"an invoice"}]}"#;
    assert!(found(GuardCheck::Patterns(pattern("(?i)INVOICE")), body));
    assert!(!found(GuardCheck::Patterns(pattern("bomb")), body), "a name is no text");
    assert!(!found(GuardCheck::Without(pattern("invoice")), body));
    assert!(found(GuardCheck::Without(pattern("order")), body));
    assert!(found(GuardCheck::Size { bytes_max: Some(9), tokens_max: None }, body));
    assert!(!found(GuardCheck::Size { bytes_max: Some(10), tokens_max: Some(3) }, body));
    assert!(found(GuardCheck::Size { bytes_max: None, tokens_max: Some(2) }, body));
}
