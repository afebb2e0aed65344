use super::TokenFloor;
use proptest::prelude::*;

fn tokens<'a>(pieces: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut floor = TokenFloor::default();
    pieces.into_iter().map(|piece| floor.push(piece)).sum()
}

#[test]
fn a_piece_counts_what_it_certainly_has() {
    let words = "word ".repeat(50);
    let (spaces, letters) = (" ".repeat(1_280), "a".repeat(3_000_000));
    for (text, expected) in [
        ("", 0),
        (" ", 1),
        ("\n\n", 1),
        ("don't", 1),
        ("a = b(c, d)", 3),
        ("1 2 3 --- + 4", 1),
        ("naïve été", 2),
        ("天天中彩票", 1),
        (&words, 50),
        (&spaces, 10),
        (&letters, 23_437),
    ] {
        assert_eq!(tokens([text]), expected, "{:.20}", text);
    }
    assert_eq!(tokens(["He", "llo", " wor", "ld"]), 4, "each piece is a token at least");
    assert_eq!(tokens(["one two thr", "ee four five"]), 5, "a word that is cut is one");
}

proptest! {
    /// An honest provider: each token has at most one word, or is a run of one sign of at most 128 bytes; events have any number of tokens.
    #[test]
    fn never_more_than_there_are(
        words in prop::collection::vec(prop_oneof!["[ \n]?[a-zA-Zéß天ไ]{1,40}", "[ ]?[.,;(){}=-]{1,8}[\n]{0,2}", " {1,128}", "={1,128}", "[0-9]{1,3}"], 1..200),
        events in prop::collection::vec(1_usize..60, 1..40),
    ) {
        let mut rest = words.as_slice();
        let mut pieces = Vec::new();
        for size in events.iter().cycle() {
            let (piece, behind) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece.concat());
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert!(tokens(pieces.iter().map(String::as_str)) <= words.len() as u64);
    }
}
