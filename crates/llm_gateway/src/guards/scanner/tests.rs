use super::{Scanner, TextState};
use crate::guards::hold::Hold;
use crate::guards::placeholders::Placeholders;
use crate::guards::terms::{GuardCheck, GuardTerms};
use crate::guards::{BuiltIn, Guard, GuardPattern};
use proptest::prelude::*;
use std::sync::Arc;
use tollgate_llm::TextKind;
use tollgate_model::api::{GuardAction, GuardSide};

fn scanner(expressions: &[&str], action: GuardAction, taken: &[&str]) -> Scanner {
    let mut patterns: Vec<_> =
        expressions.iter().map(|expression| GuardPattern::compile("X", expression).expect("it compiles")).collect();
    if expressions.is_empty() {
        let all = BuiltIn::SECRETS.iter().chain(&BuiltIn::PERSONAL_DATA);
        patterns = all.map(|kind| kind.pattern().expect("it compiles")).collect();
    }
    let written: Vec<&str> = patterns.iter().map(GuardPattern::written).collect();
    let hold = Some(Arc::new(Hold::new(&written)));
    let check = GuardCheck::Patterns(patterns);
    let terms = GuardTerms { name: "g".to_owned(), on: GuardSide::Both, action, dry_run: false, check };
    let mut placeholders = Placeholders::default();
    taken.iter().for_each(|text| drop(placeholders.name_of(text, "EMAIL")));
    Scanner::new("api", vec![Arc::new(Guard { terms, figures: Arc::default() })], hold, Arc::new(placeholders))
}

fn scanned(scanner: &mut Scanner, pieces: &[&str], kind: TextKind) -> Option<Vec<String>> {
    let mut state = TextState::default();
    let mut out = Vec::new();
    for piece in pieces {
        out.push(scanner.advance(&mut state, piece, kind, false).ok()?);
    }
    out.push(scanner.advance(&mut state, "", kind, true).ok()?);
    Some(out)
}

#[test]
fn a_placeholder_in_pieces_is_put_back_and_nothing_else_waits() {
    let mut scanner = scanner(&["never"], GuardAction::Refuse, &["a@b.c", "q\"u\\o"]);
    let out = scanned(&mut scanner, &["Mail ", "to [", "EMA", "IL_1", "], not", " [EMAIL_9] [x"], TextKind::Text)
        .expect("nothing is refused");
    assert_eq!(out, ["Mail ", "to ", "", "", "a@b.c, not", " [EMAIL_9] [x", ""]);
    let out = scanned(&mut scanner, &["{\"t\":\"[EMAIL_2]\"}"], TextKind::Arguments).expect("nothing is refused");
    assert_eq!(out.concat(), r#"{"t":"q\"u\\o"}"#, "in JSON it is escaped");
    let out = scanned(&mut scanner, &["[EMAIL_1]"], TextKind::Thought).expect("nothing is refused");
    assert_eq!(out.concat(), "[EMAIL_1]", "a thought may have a proof");
    let out = scanned(&mut scanner, &["[EMAIL_1"], TextKind::Text).expect("nothing is refused");
    assert_eq!(out.concat(), "[EMAIL_1", "what was begun is not lost");
}

#[test]
fn what_is_put_back_is_not_taken_out_again() {
    let mut scanner = scanner(&[], GuardAction::Redact, &["a@b.com"]);
    let out = scanned(&mut scanner, &["[EMAIL_1] and other@b.com"], TextKind::Text).expect("nothing is refused");
    assert_eq!(out.concat(), "a@b.com and [EMAIL]");
}

#[test]
fn a_secret_in_pieces_is_refused_before_its_end_goes_on() {
    let mut scanner = scanner(&["secret-[0-9]{4}"], GuardAction::Refuse, &[]);
    let mut state = TextState::default();
    let mut out = String::new();
    for piece in ["the s", "ecret", "-12", "3"] {
        out += &scanner.advance(&mut state, piece, TextKind::Text, false).unwrap_or_else(|_| panic!("{piece}"));
    }
    assert_eq!(out, "the ");
    let Err(refused) = scanner.advance(&mut state, "4 is", TextKind::Text, false) else { panic!("it is whole") };
    assert!(refused.fault.message.contains("`g`") && !refused.fault.message.contains("secret"), "{:?}", refused.fault);
}

proptest! {
    /// However a text is cut, the same comes out of it as of the whole.
    #[test]
    fn pieces_make_no_difference(
        words in proptest::collection::vec(
            prop_oneof![
                Just("hello "), Just("ü"), Just("a@b.com"), Just("4111 1111 1111 1111"), Just("DE89370400440532013000"), Just("[EMAIL_1]"),
                Just("[EMAIL_"), Just("192.168.0.1"), Just(" "), Just("-"), Just("AKIAIOSFODNN7EXAMPLE"), Just("x"), Just("12"), Just("\n"),
                Just("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"), Just("+49 30 901820"), Just("@"), Just("."),
            ],
            0..12,
        ),
        cuts in proptest::collection::vec(0_usize..200, 0..20),
    ) {
        let text = words.concat();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut.min(text.len()))).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        let whole = scanned(&mut scanner(&[], GuardAction::Redact, &["own@mail.org"]), &[&text], TextKind::Text).expect("nothing is refused");
        let cut = scanned(&mut scanner(&[], GuardAction::Redact, &["own@mail.org"]), &pieces, TextKind::Text).expect("nothing is refused");
        prop_assert_eq!(whole.concat(), cut.concat());
    }
}

#[test]
fn what_overlaps_is_taken_out_as_a_whole() {
    let text = "-----BEGIN PRIVATE KEY-----a@b.com, and -----BEGIN PRIVATE KEY-----x@y.org";
    for piece in [1, 5, text.len()] {
        let pieces: Vec<&str> =
            text.as_bytes().chunks(piece).map(|piece| std::str::from_utf8(piece).expect("it is ASCII")).collect();
        let out = scanned(&mut scanner(&[], GuardAction::Redact, &[]), &pieces, TextKind::Text).expect("nothing is refused");
        assert_eq!(out.concat(), "[PRIVATE_KEY][EMAIL], and [PRIVATE_KEY][EMAIL]", "{piece}");
    }
}
