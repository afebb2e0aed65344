use super::{TextSplit, Tokenizer};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

/// All bytes, and these tokens behind them in the order of their ranks.
fn vocabulary(tokens: &[&str]) -> Vec<u8> {
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let all = bytes.chain(tokens.iter().map(|token| token.as_bytes().to_vec()));
    let lines = all.enumerate().map(|(rank, token)| format!("{} {rank}\n", STANDARD.encode(token)));
    lines.collect::<String>().into_bytes()
}

const TOKENS: [&str; 9] = ["ab", "bc", " w", "or", " wor", " word", "  ", "    ", "éa"];

fn tokenizer(split: TextSplit) -> Tokenizer {
    Tokenizer::read(&vocabulary(&TOKENS), split).expect("a vocabulary")
}

#[test]
fn neighbours_of_the_lowest_rank_are_joined_first() {
    let tokenizer = tokenizer(TextSplit::O200k);
    for (text, tokens) in [
        ("", 0),
        ("a", 1),
        // `ab` comes before `bc`.
        ("abc", 2),
        ("abbc", 2),
        ("xbc", 2),
        // Words are apart: the space belongs to the one behind it.
        ("abc word", 3),
        (" word word", 2),
        ("word", 3),
        ("a   word", 3),
        ("a    ", 2),
        ("a\n\n", 3),
        ("é", 2),
        ("éa", 1),
        ("1234", 4),
        ("<|endoftext|>", 13),
    ] {
        assert_eq!(tokenizer.count(text), tokens, "{text:?}");
    }
}

#[test]
fn words_end_where_the_vocabulary_s_expression_says() {
    let words = |split: TextSplit, text: &str| {
        let tokenizer = tokenizer(split);
        let (mut rest, mut words) = (text, Vec::new());
        while !rest.is_empty() {
            let (word, behind) = rest.split_at(tokenizer.first_word(rest));
            words.push(word.to_owned());
            rest = behind;
        }
        words
    };
    let text = "I'm HTMLParser's 12345 --ok//\n\n  x  ";
    assert_eq!(
        words(TextSplit::Cl100k, text),
        ["I", "'m", " HTMLParser", "'s", " ", "123", "45", " --", "ok", "//\n\n", " ", " x", "  "]
    );
    assert_eq!(words(TextSplit::O200k, text), ["I'm", " HTMLParser's", " ", "123", "45", " --", "ok", "//\n\n", " ", " x", "  "]);
}

#[test]
fn what_is_no_vocabulary_is_named_with_its_line() {
    let whole = vocabulary(&TOKENS);
    let with = |line: &str| [whole.as_slice(), line.as_bytes()].concat();
    for (file, why) in [
        (with("YWJj\n"), "line 266 is no token in base64 with its rank"),
        (with("YWJj x\n"), "line 266"),
        (with("!! 5\n"), "line 266"),
        (with(" 5\n"), "line 266"),
        (with("YWI= 5\n"), "line 266 has a token that is there before"),
        (b"YQ== 0\n".to_vec(), "a byte is no token"),
        (b"{}".to_vec(), "line 1"),
        (Vec::new(), "a byte is no token"),
    ] {
        let refused = Tokenizer::read(&file, TextSplit::Cl100k).expect_err("it is broken");
        assert!(refused.starts_with(why), "{refused}");
    }
    let with_lines = [whole.as_slice(), b"\r\n\n"].concat();
    assert!(Tokenizer::read(&with_lines, TextSplit::Cl100k).is_ok());
}

/// As the encoding is defined: the lowest rank of all neighbours, the first of equal ones, again and again.
fn by_definition(tokenizer: &Tokenizer, word: &[u8]) -> u64 {
    let mut parts: Vec<Vec<u8>> = word.iter().map(|byte| vec![*byte]).collect();
    loop {
        let ranked = parts.windows(2).enumerate().filter_map(|(at, pair)| Some((tokenizer.rank(&pair.concat())?, at)));
        let Some((_, at)) = ranked.min() else { return parts.len() as u64 };
        let behind = parts.remove(at + 1);
        parts[at].extend(behind);
    }
}

proptest! {
    #[test]
    fn a_word_has_as_many_tokens_as_the_definition_says(word in "[abc worxé]{0,40}") {
        let tokenizer = tokenizer(TextSplit::O200k);
        let whole = u64::from(tokenizer.rank(word.as_bytes()).is_some());
        let expected = if whole == 1 { 1 } else { by_definition(&tokenizer, word.as_bytes()) };
        prop_assert_eq!(tokenizer.count_word(word.as_bytes()), expected);
    }

    #[test]
    fn any_text_has_at_most_a_token_for_each_byte(text in "(?s).{0,200}", split in prop_oneof![Just(TextSplit::Cl100k), Just(TextSplit::O200k)]) {
        let tokens = tokenizer(split).count(&text);
        prop_assert!(tokens <= text.len() as u64 && (tokens > 0) != text.is_empty());
    }
}
