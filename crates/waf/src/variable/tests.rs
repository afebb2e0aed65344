use super::*;

#[test]
fn a_list_of_variables_is_split_outside_of_expressions() {
    for (text, parts) in [
        ("ARGS|ARGS_NAMES", vec!["ARGS", "ARGS_NAMES"]),
        ("ARGS:/a|b/|TX:0", vec!["ARGS:/a|b/", "TX:0"]),
        (r"ARGS:/a\/|b/|TX:0", vec![r"ARGS:/a\/|b/", "TX:0"]),
        ("ARGS:'/a|b/'|TX:0", vec!["ARGS:'/a|b/'", "TX:0"]),
        ("REQUEST_COOKIES|XML:/*|ARGS", vec!["REQUEST_COOKIES", "XML:/*", "ARGS"]),
        ("XML://@*|!REQUEST_COOKIES:/__utm/|&ARGS", vec!["XML://@*", "!REQUEST_COOKIES:/__utm/", "&ARGS"]),
    ] {
        assert_eq!(split(text), parts, "{text}");
    }
}

#[test]
fn a_variable_selects_by_collection_part_and_name() {
    let is_selected = |text: &str, source, part, name: &str| RuleTarget::read(text).unwrap().selects(source, part, name.as_bytes());
    use ValueSource::{ArgsGet, ArgsPost, Headers};
    for (text, source, part, name, expected) in [
        ("ARGS", ArgsGet, Part::Value, "q", true),
        ("ARGS", ArgsPost, Part::Value, "q", true),
        ("ARGS", ArgsPost, Part::Name, "q", false),
        ("ARGS_NAMES", ArgsPost, Part::Name, "q", true),
        ("ARGS_GET", ArgsPost, Part::Value, "q", false),
        ("args:Q", ArgsGet, Part::Value, "q", true),
        ("ARGS:q", ArgsGet, Part::Value, "qq", false),
        ("ARGS:/^Q/", ArgsGet, Part::Value, "qq", true),
        ("ARGS:'/^q/'", ArgsGet, Part::Value, "aq", false),
        ("REQUEST_HEADERS:user-agent", Headers, Part::Value, "User-Agent", true),
    ] {
        assert_eq!(is_selected(text, source, part, name), expected, "{text} {source:?} {part:?} {name}");
    }
}

#[test]
fn what_is_no_variable_is_a_problem() {
    for text in ["ARG", "GEO:COUNTRY", "XML:/a/b", "ARGS:/(/", ""] {
        assert!(RuleTarget::read(text).is_err(), "{text}");
    }
}
