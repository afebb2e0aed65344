//! What letters look like on their way.

use super::message;
use crate::letters::{Letter, Letterhead};

fn head() -> Letterhead {
    Letterhead { portal: "Example\r\nBcc: x@example.com".to_owned(), url: "https://portal.example".to_owned() }
}

fn written(letter: &Letter) -> String {
    let from = "Example <apis@example.com>".parse().unwrap();
    String::from_utf8(message(&from, letter).unwrap().formatted()).unwrap()
}

#[test]
fn no_text_becomes_a_header() {
    let letters = [
        head().welcome("ada@example.com", "token"),
        head().decided("ada@example.com", "a\r\nCc: y@example.com", true, "\r\nTo: z@example.com"),
        head().invitation("ada@example.com", Some("team\r\nBcc: x@example.com"), "token"),
    ];
    for letter in letters {
        let text = written(&letter);
        let (headers, _) = text.split_once("\r\n\r\n").unwrap();
        for line in headers.split("\r\n") {
            let name = line.split(':').next().unwrap();
            let is_known =
                ["From", "To", "Subject", "Date", "Content-Type", "Content-Transfer-Encoding", "MIME-Version"].contains(&name);
            assert!(is_known || line.starts_with(' '), "{line:?} in {headers}");
        }
        assert_eq!(headers.matches("To: ").count(), 1, "{headers}");
    }
}

#[test]
fn an_address_that_is_none_is_not_written_to() {
    let from = "apis@example.com".parse().unwrap();
    let letter =
        Letter { to: "ada@example.com\r\nRCPT TO:<x@example.com>".to_owned(), subject: String::new(), text: String::new() };
    assert!(message(&from, &letter).is_err());
}
