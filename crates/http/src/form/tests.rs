use super::*;

#[path = "invariants.rs"]
mod invariants;

#[test]
fn parameters_and_cookies_are_found_by_name() {
    assert_eq!(parameter("a=1&b%20c=2+3%21&d", "b c").as_deref(), Some("2 3!"));
    assert_eq!(parameter("a=1&d", "d").as_deref(), Some(""));
    assert_eq!(parameter("a=1", "b"), None);
    assert_eq!(cookie("a=1; b=\"2\"", "b"), Some("2"));
    assert_eq!(encode_form("a b/ü"), "a+b%2F%C3%BC");
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn any_query_and_cookie_is_read_as_it_was_written() {
    crate::mutation::Corpus::read("form").each_and_mutated(20_000, invariants::form);
}
