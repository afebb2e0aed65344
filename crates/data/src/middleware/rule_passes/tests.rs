use super::passed;

#[test]
fn parameters_pass_by_their_decoded_names_and_stay_as_they_are_written() {
    let names = ["a".to_owned(), "b c".to_owned()];
    for (query, expected) in [
        ("a=1&x=2&a=3", "a=1&a=3"),
        ("b+c=%20&b%20c&B+c=1", "b+c=%20&b%20c"),
        ("%61=1", "%61=1"),
        ("x=a&aa=1", ""),
        ("", ""),
        ("a", "a"),
        ("&&a=1&", "a=1"),
    ] {
        assert_eq!(passed(query, &names), expected, "{query}");
    }
}
