use super::*;
use crate::variable::RuleTarget;

struct NoVariables;

impl TextVariables for NoVariables {
    fn first_value(&self, _: &RuleTarget) -> Vec<u8> {
        b"10".to_vec()
    }
}

fn words(name: &str) -> Option<String> {
    (name == "words.data").then(|| "# comment\nevil\n\nbad thing\n".to_owned())
}

fn fits(name: &str, argument: &str, value: &[u8]) -> bool {
    let operator = RuleOperator::compile(name, argument, &words).unwrap_or_else(|why| panic!("{name} {argument}: {why}"));
    let found = operator.fits(value, true, &NoVariables, &mut InspectionBudget::new(1 << 20));
    let without = operator.fits(value, false, &NoVariables, &mut InspectionBudget::new(1 << 20));
    assert_eq!(found.as_ref().map(Option::is_some), without.as_ref().map(Option::is_some), "captures change nothing");
    found.unwrap().is_some()
}

#[test]
fn each_operator_tells_what_fits() {
    let cases: &[(&str, &str, &[u8], bool)] = &[
        ("beginsWith", "ab", b"abc", true),
        ("beginsWith", "bc", b"abc", false),
        ("contains", "bc", b"abcd", true),
        ("containsWord", "bc", b"a bc.", true),
        ("containsWord", "bc", b"abc", false),
        ("endsWith", ".%{TX.a}", b"x.10", true),
        ("eq", "%{TX.a}", b"10", true),
        ("eq", "0", b"no number", true),
        ("ge", "5", b"5", true),
        ("gt", "5", b"5", false),
        ("le", "-1", b"-2", true),
        ("lt", "5", b" 4x", true),
        ("ipMatch", "10.0.0.0/8,::1", b"10.1.2.3", true),
        ("ipMatch", "10.0.0.0/8,::1", b"::ffff:10.1.2.3", true),
        ("ipMatch", "10.0.0.0/8,::1", b"11.1.2.3", false),
        ("ipMatch", "10.0.0.0/8", b"text", false),
        ("noMatch", "", b"x", false),
        ("pm", "foo BAR", b"xxbarxx", true),
        ("pm", "foo BAR", b"ba r", false),
        ("pmFromFile", "words.data", b"a Bad Thing", true),
        ("pmFromFile", "words.data", b"comment", false),
        ("rx", "^a.c$", b"a\nc", true),
        ("rx", r"(?i)SELECT\s", b"select\t", true),
        // Bytes, not characters.
        ("rx", r"\xc2\xb4", "\u{b4}".as_bytes(), true),
        ("rx", r"[\x80-\xff]", b"\x90", true),
        ("rx", r"^[^\x80-\xff]+$", b"\x90", false),
        ("rx", r"\\x80", b"\\x80", true),
        ("rx", "[\u{20ac}]", b"\xac", true),
        ("streq", "a", b"a", true),
        ("streq", "a", b"A", false),
        ("unconditionalMatch", "", b"", true),
        ("validateByteRange", "32-126,9", b"a b\t", false),
        ("validateByteRange", "32-126,9", b"a\0", true),
        ("validateUrlEncoding", "", b"%41%zz", true),
        ("validateUrlEncoding", "", b"%41%4", true),
        ("validateUrlEncoding", "", b"%41", false),
        ("validateUtf8Encoding", "", b"\xff", true),
        ("validateUtf8Encoding", "", b"ok", false),
        ("within", "GET POST", b"POST", true),
        ("within", "GET POST", b"PUT", false),
        ("detectSQLi", "", b"1' OR '1'='1", true),
        ("detectSQLi", "", b"O'Neill", false),
        ("detectXSS", "", b"<script>alert(1)</script>", true),
        ("detectXSS", "", b"a < b", false),
    ];
    for (name, argument, value, expected) in cases {
        assert_eq!(fits(name, argument, value), *expected, "@{name} {argument}: {}", value.escape_ascii());
    }
}

#[test]
fn what_cannot_be_used_is_a_problem() {
    for (name, argument) in [
        ("rx", "("),
        ("rx", "(?=a)"),
        ("ipMatch", "10.0.0.0/33"),
        ("pmFromFile", "none.data"),
        ("validateByteRange", "1-256"),
        ("geoLookup", ""),
        ("eq", "%{NOTHING}"),
    ] {
        assert!(RuleOperator::compile(name, argument, &words).is_err(), "@{name} {argument}");
    }
}

#[test]
fn the_budget_counts_every_byte() {
    let operator = RuleOperator::compile("rx", "x", &words).unwrap();
    let mut budget = InspectionBudget::new(1_000);
    assert_eq!(operator.fits(&[b'a'; 900], false, &NoVariables, &mut budget), Ok(None));
    assert!(budget.spent() >= 900, "{}", budget.spent());
    assert_eq!(operator.fits(&[b'a'; 900], false, &NoVariables, &mut budget), Err(TooMuchWork));
}

/// Pieces of attacks, joined, cut, and with bytes changed, from a sequence that is the same in each run.
#[test]
fn injections_are_looked_for_in_all_that_bytes_can_be() {
    let pieces: &[&[u8]] = &[
        b"'",
        b"\"",
        b"`",
        b"--",
        b"/*!",
        b"*/",
        b"#",
        b"\\",
        b"\0",
        b"\xff\xfe",
        b"\xe2\x80",
        b"0x",
        b"1e",
        b".1e-",
        b"e'",
        b"q'[",
        b"n'",
        b"x'",
        b"u&'",
        b"@@",
        b"@`",
        b"$$",
        b"$a$",
        b"$1.",
        b"..",
        b"{`",
        b"(",
        b",",
        b";",
        b" or ",
        b"union select",
        b"sp_password",
        b"<=>",
        b":=",
        b"||",
        b"!",
        b"1",
        b"\n",
        b"\xa0",
        b"sleep(",
        b"</",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"]]>",
        b"<%",
        b"<?",
        b"<a ",
        b"onclick=",
        b"href=",
        b"javascript:",
        b"&#x",
        b"&#106;",
        b"style=",
        b"/>",
        b"--!>",
    ];
    let mut state = 7_u64;
    let mut next = move |max: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % max
    };
    let [mut found, mut clean] = [0, 0];
    for _ in 0..20_000 {
        let mut value: Vec<u8> = (0..1 + next(9)).flat_map(|_| pieces[next(pieces.len())].to_vec()).collect();
        (0..next(3)).for_each(|_| {
            let at = next(value.len());
            value[at] = next(256) as u8;
        });
        value.drain(..next(value.len()));
        for name in ["detectSQLi", "detectXSS"] {
            if fits(name, "", &value) { found += 1 } else { clean += 1 }
        }
    }
    assert!(found > 1_000 && clean > 1_000, "{found} {clean}");
}
