use super::*;
use regex::Regex;

#[path = "invariants.rs"]
mod invariants;

/// Checks whether an expression is a template, and which paths it matches; the regular expression must agree.
fn check(expression: &str, is_template: bool, fits: &[&str], others: &[&str]) {
    let pattern = Pattern::compile(expression).unwrap();
    assert_eq!(matches!(pattern.kind, PatternKind::Template(_)), is_template, "{expression}");
    let regex = Regex::new(expression).unwrap();
    for (paths, expect) in [(fits, true), (others, false)] {
        for path in paths {
            assert_eq!((pattern.is_match(path), regex.is_match(path)), (expect, expect), "{expression} {path:?}");
        }
    }
}

#[test]
fn texts_and_segments_need_no_engine() {
    check("/a", true, &["/a", "/ab", "/x/a"], &["/", "/b/A", ""]);
    check("^/a$", true, &["/a"], &["/ab", "/x/a"]);
    check("^/a", true, &["/a", "/ab"], &["/x/a"]);
    check("a$", true, &["/a", "/x/a", "a"], &["/ab", ""]);
    check("", true, &["", "/a"], &[]);
    check("(.*)", true, &["", "/a"], &[]);
    check("/a/.*", true, &["/a/", "/a/b", "/x/a/b"], &["/a"]);
    check("^$", true, &[""], &["/"]);
    check("^/p/([^/]+)/sub$", true, &["/p/1/sub", "/p/é/sub"], &["/p//sub", "/p/1/2/sub", "/p/1/sub/", "/x/p/1/sub"]);
    check("/p/([^/]+)/sub", true, &["/p/1/sub", "/x/p/p/1/sub/y", "/p//p/1/sub"], &["/p//sub", "/p/1/2/sub"]);
    check("/([^/]+).json$", false, &["/a.json", "/axjson"], &["/.json"]);
    check(r"/([^/]+)\.json$", true, &["/a.json", "/a.json.json", "/b/..json"], &["/.json", "/a.json/", "/a"]);
    check("/([^/]+)-([^/]+)/x", true, &["/a-b/x", "/a-b-c/x", "/--b/x", "/---/x"], &["/a-/x", "/-b/x", "/ab/x", "/a/-b/x"]);
    check("/([^/]+)-([^/]+)$", true, &["/a-b", "/q/a-b-c"], &["/a-", "/-b", "/a-b/c"]);
    check("([^/]+)/x", true, &["a/x", "/b/a/x"], &["/x", "//x"]);
    check("^([^/]+)/x", true, &["a/x"], &["/x", "/b/a/x"]);
    check("/[^/]+/end", true, &["/a/end"], &["//end"]);
    check("a([^/]+)b/c", true, &["aab/c", "aaxb/c", "ab/abb/c"], &["ab/c", "a/b/c"]);
    check("ab([^/]+)$", true, &["abx", "/x/abab", "abab"], &["ab", "ab/x"]);
    check("é([^/]+)ü", true, &["éaü", "éüü"], &["éü"]);
}

#[test]
fn letter_case_is_ignored_as_by_the_engine() {
    check("(?i)/Users/([^/]+)$", true, &["/users/1", "/USERS/x", "/u\u{17f}er\u{17f}/1"], &["/user/1"]);
    check("(?i)^/key", true, &["/KEY", "/\u{212a}ey/x"], &["/x/key"]);
    check("(?i)/Ü", false, &["/ü", "/Ü"], &["/u"]);
    check("/Users", true, &["/Users"], &["/users", "/U\u{17f}ers"]);
}

#[test]
fn what_is_more_than_texts_and_segments_has_an_engine() {
    check("/a+b", false, &["/aab"], &["/a+b"]);
    check("/a|/b", false, &["/a", "/b"], &["/c"]);
    check("/[^/]+?/x", false, &["/a/x"], &["//x"]);
    check("/([^/]+)*", false, &["/"], &["a"]);
    check("/([^/]+)([^/]+)/", false, &["/ab/"], &["/a/", "/é/"]);
    check(r"/a\$", false, &["/a$"], &["/a"]);
    check(r"/a\.*$", false, &["/a", "/a..", "/x/a"], &["/a.x"]);
    check("^.*/x$", false, &["/a/x"], &["/a\n/x"]);
    check("/a.*$", false, &["/ab", "\n/ab", "/a\n/a"], &["/ab\n"]);
    check(r"(?-u:\b)a(?-u:\b)", false, &["/a/", "éa"], &["ab"]);
}

#[test]
fn long_texts_are_searched_in_bounded_memory() {
    let pattern = Pattern::compile("^/(a|b|ab)*c$").unwrap();
    let path = format!("/{}", "ab".repeat(100_000));
    assert!(!pattern.is_match(&path));
    assert!(pattern.is_match(&format!("{path}c")));
    // Remains of another expression's search in a longer text have no effect.
    let other = Pattern::compile("^/[xy]{3}$").unwrap();
    assert!(other.is_match("/xyx") && !other.is_match("/xy") && !pattern.is_match("/xyx"));
}

/// The literals that an expression requires; those of alternatives are grouped.
fn needs(expression: &str) -> Vec<Vec<String>> {
    let pattern = Pattern::compile(expression).unwrap();
    let text = |literal: &Literal| {
        let text = String::from_utf8_lossy(&literal.text).into_owned();
        if literal.any_case { format!("i:{text}") } else { text }
    };
    pattern.requirements().iter().map(|requirement| requirement.0.iter().map(text).collect()).collect()
}

#[test]
fn a_pattern_says_what_every_path_that_fits_has() {
    let one = |texts: &[&str]| texts.iter().map(|text| vec![(*text).to_owned()]).collect::<Vec<_>>();
    assert_eq!(needs("^/svc1/([0-9A-Za-z_]+)/([0-9]+)$"), one(&["/svc1/", "/"]));
    assert_eq!(needs("/p/([^/]+)/sub"), one(&["/p/", "/sub"]));
    assert_eq!(needs("/a(bc)+d"), one(&["/a", "bc", "d"]));
    assert_eq!(needs("/a(bc)*d"), one(&["/a", "d"]));
    assert_eq!(needs("/a(?:bc)?"), one(&["/a"]));
    assert_eq!(needs("(?i)/Task/([^/]+)"), one(&["i:/ta", "i:/"]));
    assert_eq!(needs("(?i)/Task/[0-9]"), one(&["i:/ta", "/"]));
    assert_eq!(needs("/x(?i)ab"), one(&["/x", "i:ab"]));
    assert_eq!(needs("^/(?:users|groups)/[0-9]"), [vec!["/"], vec!["users", "groups"], vec!["/"]]);
    assert_eq!(needs("/a[0-9]|/bb[0-9]/c"), [vec!["/a", "/bb"]]);
    assert_eq!(needs("[0-9]|/b"), Vec::<Vec<String>>::new());
    assert_eq!(needs("^[a-z]+$"), Vec::<Vec<String>>::new());
}

#[test]
fn groups_are_what_they_are_elsewhere() {
    let pool = PatternPool::default();
    for (expression, text) in [
        ("^/a/([^?]*)", "/a/1?x=1"),
        ("/(a|ab)(c|bcd)([0-9])*", "/abcd"),
        ("(x)?y(z*)", "/yzz"),
        ("(?i)(K.)(?:s)(.?)$", "/key\u{212a}\u{e9}s\u{e9}"),
        ("()", "/a"),
        ("(a*?)(a*)$", "/aaa"),
        ("/never", "/a"),
        ("([^/]+)/(b+)", &format!("{}/bb", "é".repeat(60_000))),
    ] {
        let found = pool.with_groups(expression).unwrap();
        let groups = found.groups(text).map(|groups| groups.iter().map(str::to_owned).collect::<Vec<_>>());
        let elsewhere = Regex::new(expression).unwrap();
        let elsewhere = elsewhere.captures(text);
        let text = |group: Option<regex::Match<'_>>| group.map_or(String::new(), |group| group.as_str().to_owned());
        assert_eq!(groups, elsewhere.map(|groups| groups.iter().map(text).collect()), "{expression}");
    }
    let found = pool.with_groups("/(a)").unwrap();
    assert_eq!(found.groups("/a").unwrap().get(usize::MAX), None);
    assert!(pool.bytes() > 0);
    drop(found);
    assert_eq!(pool.bytes(), 0);
}

#[test]
fn a_template_takes_some_bytes_and_an_expression_some_kibibytes() {
    let bytes = |expression: &str| Pattern::compile(expression).unwrap().bytes();
    assert!(bytes("^/p1/([^/]+)/sub$") < 512);
    assert!(bytes("^/svc1/([0-9A-Za-z_]+)/([0-9]+)$") < 6 << 10);
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn patterns_of_names_and_stars_match_as_tyks_rules_say() {
    crate::mutation::Corpus::read("pattern_rules").each_and_mutated(2_000, invariants::rules);
}
