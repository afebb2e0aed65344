use super::*;

fn written(text: &str) -> Vec<(usize, String, Vec<String>)> {
    directives(text).into_iter().map(|directive| (directive.line, directive.name, directive.arguments)).collect()
}

#[test]
fn a_directive_has_words_quotes_and_further_lines() {
    let made =
        |line: usize, name: &str, words: &[&str]| (line, name.to_owned(), words.iter().map(|word| (*word).to_owned()).collect());
    for (text, expected) in [
        ("", vec![]),
        ("# all\n  # comments\n", vec![]),
        ("SecMarker END", vec![made(1, "SecMarker", &["END"])]),
        (
            "\nSecRule ARGS \\\n  \"@rx a b\" \\\n  \"id:1\"\nSecMarker X",
            vec![made(2, "SecRule", &["ARGS", "@rx a b", "id:1"]), made(5, "SecMarker", &["X"])],
        ),
        // Only the quote loses its backslash.
        (r#"SecRule ARGS "a\"b\\c\d" 'it\'s'"#, vec![made(1, "SecRule", &["ARGS", r#"a"b\\c\d"#, "it's"])]),
        ("SecRule \"ARGS", vec![made(1, "SecRule", &["ARGS"])]),
        ("SecMarker X \\", vec![made(1, "SecMarker", &["X"])]),
    ] {
        assert_eq!(written(text), expected, "{text}");
    }
}

#[test]
fn actions_have_values_that_may_be_quoted() {
    for (text, expected) in [
        ("", vec![]),
        ("id:1,phase:2,DENY", vec![("id", "1"), ("phase", "2"), ("deny", "")]),
        ("msg:'a, b: c',t:none", vec![("msg", "a, b: c"), ("t", "none")]),
        (r"msg:'it\'s, yes', log", vec![("msg", "it's, yes"), ("log", "")]),
        ("setvar:tx.a=%{tx.b}", vec![("setvar", "tx.a=%{tx.b}")]),
        ("setvar:'tx.a=+1'", vec![("setvar", "tx.a=+1")]),
    ] {
        let expected: Vec<_> =
            expected.into_iter().map(|(name, value): (&str, &str)| (name.to_owned(), value.to_owned())).collect();
        assert_eq!(actions(text), expected, "{text}");
    }
}
