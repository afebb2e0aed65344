use super::*;

#[test]
fn a_parameter_is_masked_however_its_name_is_written() {
    let own = ["auth[token]".to_owned(), "api key".to_owned(), "apikey".to_owned()];
    for (query, expect) in [
        ("a=1&apikey=s3cr3t&b=2", "/p?a=1&apikey=***&b=2"),
        ("APIKEY=s3cr3t", "/p?APIKEY=***"),
        ("auth[token]=s3cr3t", "/p?auth[token]=***"),
        ("auth%5Btoken%5D=s3cr3t", "/p?auth%5Btoken%5D=***"),
        ("auth%5btoken%5d=s3cr3t&auth%5Btoken]=s3cr3t", "/p?auth%5btoken%5d=***&auth%5Btoken]=***"),
        ("%61pikey=s3cr3t", "/p?%61pikey=***"),
        ("api+key=s3cr3t&api%20key=s3cr3t", "/p?api+key=***&api%20key=***"),
        ("apikey=s3cr3t&apikey=s3cr3t=", "/p?apikey=***&apikey=***"),
        // Named without a value; nothing says where a value would have begun.
        ("apikey", "/p?apikey=***"),
        ("apikeys=1&%=2&=3&&", "/p?apikeys=1&%=2&=3&&"),
    ] {
        assert_eq!(masked_target("/p", Some(query), &own), expect, "{query}");
    }
    assert_eq!(masked_target("/p", None, &own), "/p");
}

#[test]
fn a_parameter_that_is_named_like_a_credential_is_masked_however_its_name_is_written() {
    for (path, expect) in [
        ("/p", "/p"),
        ("/p?a=1", "/p?a=1"),
        ("/p?access_token=s3cr3t", "/p?access_token=********"),
        ("/p?access_%74oken=s3cr3t&a=1", "/p?access_%74oken=********&a=1"),
        ("/p?own=s3cr3t", "/p?own=********"),
    ] {
        assert_eq!(masked_path(path, |name| names_parameter(name, "own")), expect, "{path}");
    }
}

#[test]
fn a_header_is_masked_in_any_letter_case_and_with_underscores() {
    let own = ["x-key".to_owned(), "cookie".to_owned()];
    for (name, is_masked) in [("X-Key", true), ("x_key", true), ("COOKIE", true), ("X-Keys", false), ("Accept", false)] {
        assert_eq!(masked_value(name, b"s3cr3t", &own) == b"***", is_masked, "{name}");
    }
}
