use super::*;

#[test]
fn what_a_server_notes_is_read_until_the_reader_lets_go() {
    let calls = Arc::<LlmCalls>::default();
    let open = calls.open().unwrap();
    assert!(open.is_complete() && open.stats().is_none(), "no server has seen it");
    let call = calls.take(open.number).unwrap();
    assert!(calls.take(open.number).is_none(), "a number is good for one request");
    call.note(|stats| stats.model = "m".to_owned());
    assert!(!open.is_complete());
    assert_eq!(open.stats().unwrap().model, "m");
    call.end();
    assert!(open.is_complete());
    let number = open.number;
    drop(open);
    assert_eq!((calls.count(), calls.take(number).is_none()), (0, true));
    call.note(|stats| stats.model.clear());
}

#[test]
fn calls_are_bounded() {
    let calls = Arc::<LlmCalls>::default();
    let open: Vec<_> = (0..OPEN_MAX).map(|_| calls.open().unwrap()).collect();
    assert!(calls.open().is_none());
    drop(open);
    assert!(calls.open().is_some());
}
