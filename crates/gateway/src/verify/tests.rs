//! Signatures of minisign: one that the program itself made, and what is wrong with others.

use super::{check_signature, key_line, named, number};

const LIST: &str = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  tollgate-1.2.3-linux-x86_64\n";
const KEY: &str = "RWRT6itwIGPYbzs582JVcoSrMevWiJmmU3uxA3anSAerp3vVslaQsF8k";
const SIGNATURE: &str = "untrusted comment: signature of a list\nRURT6itwIGPYb870SYXQS26maMDHF1mu2TZwYCt+R5jN8V9CWrafSh1+3S0IqP7uTOmgHK64ypxsottGkVZUhIEnT4m2qpxnTg4=\ntrusted comment: tollgate 1.2.3\nyjKBErMdho1CJ3ydq22dIdG648yz3bwzDzNJeGNyvuzHjXw+hlinr//XuFPACatmEdv/xin8LdQXWYqtRY+WDA==\n";

#[test]
fn a_signature_of_minisign_is_accepted() {
    assert_eq!(check_signature(LIST.as_bytes(), SIGNATURE, KEY), Ok(()));
}

#[test]
fn what_was_changed_or_is_no_signature_is_refused() {
    let lines: Vec<&str> = SIGNATURE.lines().collect();
    let with = |index: usize, line: &str| {
        let mut lines = lines.clone();
        lines[index] = line;
        lines.join("\n")
    };
    // The same key with another number, and the same number with another key.
    let (other_number, other_key) = (changed(KEY, 5), changed(KEY, 30));
    let cases: [(&str, &str, String, &str); 9] = [
        ("the list was changed", LIST.trim_end(), SIGNATURE.to_owned(), KEY),
        ("the list was changed", LIST, with(1, &changed(lines[1], 40)), KEY),
        ("the list was changed", LIST, SIGNATURE.to_owned(), &other_key),
        ("the trusted comment was changed", LIST, with(2, "trusted comment: tollgate 9.9.9"), KEY),
        ("another key", LIST, SIGNATURE.to_owned(), &other_number),
        ("a kind that this program does not know", LIST, with(1, &changed(lines[1], 1)), KEY),
        ("no signature", LIST, lines[..3].join("\n"), KEY),
        ("no signature", LIST, with(1, "RUQ="), KEY),
        ("no public key", LIST, SIGNATURE.to_owned(), "RWQ="),
    ];
    for (why, list, signature, key) in cases {
        let refused = check_signature(list.as_bytes(), &signature, key).expect_err(why);
        assert!(refused.contains(why), "{why}: {refused}");
    }
}

#[test]
fn a_list_names_the_file_of_a_sum_and_a_key_file_its_key() {
    let sum = LIST.split_once(' ').unwrap().0;
    assert_eq!(named(LIST, sum), Some("tollgate-1.2.3-linux-x86_64"));
    assert_eq!(named(LIST, &sum.replace('c', "d")), None);
    assert_eq!(named(LIST, ""), None);
    assert_eq!(key_line(&format!("untrusted comment: minisign public key\n{KEY}\n")), Ok(KEY.to_owned()));
    assert_eq!(key_line(KEY), Ok(KEY.to_owned()));
    assert!(key_line("").is_err() && key_line(SIGNATURE).is_err());
    assert_eq!(number(KEY), "6FD86320702BEA53");
}

/// Base64 whose byte at a place is another one.
fn changed(text: &str, place: usize) -> String {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD;
    let mut bytes = engine.decode(text).unwrap();
    bytes[place] ^= 1;
    engine.encode(bytes)
}
