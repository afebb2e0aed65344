use super::{HOLD_BYTES_MAX, Hold};

#[test]
fn only_what_may_be_the_beginning_of_a_match_waits() {
    let hold = Hold::new(&["secret[0-9]{3}", r"(?-u:\b)[a-z]+@[a-z]+(?-u:\b)"]);
    for (text, waits) in [
        ("", ""),
        ("Hello. ", ""),
        ("Hello", ""),
        ("a se", "se"),
        ("a secret12", "secret12"),
        ("a secret123", "secret123"),
        ("a secret123. ", ""),
        ("a secretX", ""),
        ("mail a@b", "a@b"),
        ("mail a@b  ", ""),
        ("mail a@", "a@"),
        ("ü ab", "ab"),
    ] {
        assert_eq!(&text[hold.begins(text, 0)..], waits, "{text}");
    }
    assert_eq!(hold.begins("secret1", 3), 7, "what has gone on does not come back");
}

#[test]
fn a_pattern_without_end_holds_so_much_and_no_more() {
    let hold = Hold::new(&["x(?s:.)*y"]);
    let text = format!("x{}", "ü".repeat(HOLD_BYTES_MAX));
    let begins = hold.begins(&text, 0);
    assert!(text.is_char_boundary(begins) && text.len() - begins <= HOLD_BYTES_MAX, "{begins}");
    assert_eq!(hold.begins("no beginning", 0), "no beginning".len());
    let none = Hold::new(&["("]);
    assert_eq!(none.begins("abc", 1), 1, "without an automaton, all waits");
}
