use super::{Answer, COUNTERS_MAX, CounterValue, DOCUMENT_BYTES_MAX, DocumentSpace, ID_BYTES_MAX, Question};
use crate::fault::StoreFaultKind;
use std::collections::HashSet;

fn put(id_bytes: usize, value_bytes: usize) -> Question {
    Question::Put { kind: DocumentSpace::Session, id: "i".repeat(id_bytes), value: vec![0; value_bytes], expires_unix_s: None }
}

fn kind_of_fault(question: &Question) -> Option<StoreFaultKind> {
    question.check().err().map(|fault| fault.kind)
}

#[test]
fn questions_up_to_the_limits_are_taken_and_larger_ones_refused() {
    let names = |count: usize, bytes: usize| Question::Counters { names: vec!["n".repeat(bytes); count] };
    for question in [put(0, 0), put(ID_BYTES_MAX, DOCUMENT_BYTES_MAX), names(COUNTERS_MAX, 1_000), names(0, 0)] {
        assert_eq!(kind_of_fault(&question), None);
    }
    let late =
        Question::List { kind: DocumentSpace::Api, prefix: String::new(), after: Some("a".repeat(ID_BYTES_MAX + 1)), limit: 1 };
    for question in [
        put(ID_BYTES_MAX + 1, 0),
        put(0, DOCUMENT_BYTES_MAX + 1),
        names(COUNTERS_MAX + 1, 1),
        names(1, ID_BYTES_MAX + 1),
        names(COUNTERS_MAX, 2_000),
        late,
        Question::DeleteCountersUnder { prefix: "p".repeat(ID_BYTES_MAX + 1) },
    ] {
        assert_eq!(kind_of_fault(&question), Some(StoreFaultKind::TooLarge));
    }
}

#[test]
fn every_kind_has_its_own_number() {
    let codes: HashSet<i64> = DocumentSpace::ALL.iter().map(|kind| kind.code()).collect();
    assert_eq!(codes.len(), DocumentSpace::ALL.len());
}

#[test]
fn answers_give_only_what_they_hold() {
    assert_eq!(Answer::Document(Some(vec![1])).into_document(), Ok(Some(vec![1])));
    assert_eq!(Answer::Done { existed: true }.existed(), Ok(true));
    let counter = CounterValue { name: "c".into(), value: 1, renews_unix_s: 2 };
    assert_eq!(Answer::Counters(vec![counter.clone()]).into_counters(), Ok(vec![counter]));
    let wrong = [
        Answer::Done { existed: true }.into_document().err(),
        Answer::Document(None).existed().err(),
        Answer::Document(None).into_page().err(),
        Answer::Document(None).into_counters().err(),
    ];
    assert!(wrong.iter().all(|fault| fault.as_ref().is_some_and(|fault| fault.kind == StoreFaultKind::Mismatch)));
}
