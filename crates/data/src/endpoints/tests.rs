use super::*;

#[path = "invariants.rs"]
mod invariants;

const LOOSE: PatternRules = PatternRules { prefix: false, suffix: false, ignore_case: false };
const EXACT: PatternRules = PatternRules { prefix: true, suffix: true, ignore_case: false };

fn check(rules: PatternRules, pattern: &str, path: &str, expect: bool) {
    let mut builder = PatternBuilder::new(rules, Arc::default());
    let number = builder.add(pattern, false).unwrap();
    let matcher = builder.build().unwrap();
    let mut hits = Hits::default();
    matcher.find(path, None, &mut hits);
    assert_eq!(hits.patterns.contains(&number), expect, "{pattern} {path} {rules:?}");
}

#[test]
fn patterns_are_unanchored_unless_configured() {
    check(LOOSE, "/ign", "/ign", true);
    check(LOOSE, "/ign", "/ign/sub", true);
    check(LOOSE, "/ign", "/a/ign", true);
    check(EXACT, "/ign", "/ign", true);
    check(EXACT, "/ign", "/ign/sub", false);
    check(EXACT, "/ign", "/a/ign", false);
    check(EXACT, "/", "/x", false);
    check(LOOSE, "/", "/x", true);
}

#[test]
fn names_and_stars_stand_for_segments() {
    check(EXACT, "/ok/{id}", "/ok/1", true);
    check(EXACT, "/ok/{id}", "/ok/1/2", false);
    check(LOOSE, "/ok/{id}", "/z/ok/1/2", true);
    check(LOOSE, "/ok/{id}", "/ok", false);
    check(EXACT, "/a/*/c", "/a/b/c", true);
    check(EXACT, "/a/*/c", "/a/b/b/c", false);
    check(EXACT, "/a/*", "/a/b/c", true);
    check(EXACT, "/n/[0-9]{2,3}", "/n/12", true);
    check(EXACT, "/n/[0-9]{2}", "/n/1", false);
    check(EXACT, "/n/a{2,}", "/n/aaa", true);
    check(EXACT, r"/n/\*{2}", "/n/**", true);
}

#[test]
fn braces_with_digits_are_a_name_where_nothing_can_be_repeated() {
    for rules in [LOOSE, EXACT] {
        check(rules, "/admin/{1}/{2}", "/admin/7/8", true);
        check(rules, "/{1}/{2,3}/x", "/a/b/x", true);
        check(rules, "/a/{1,}", "/a/b", true);
        check(rules, "/a/({1}|{2})/x", "/a/b/x", true);
        check(rules, "/a/{id}{2}", "/a/bc", true);
        check(rules, "/a/{id}-{2}", "/a/b--", true);
        check(rules, r"/a\/{2}", "/a/b", true);
        check(rules, "/a/(x)?{2}", "/a/b", true);
    }
    check(LOOSE, "multiple/wildcards/{1}/{2}", "/multiple/wildcards/a/b", true);
    check(LOOSE, "{1}/b", "/a/b", true);
}

#[test]
fn a_pattern_with_an_unpaired_brace_has_no_names() {
    check(EXACT, "/a/{id}/{", "/a/{id}/{", true);
    check(EXACT, "/a/{id}/{", "/a/b/{", false);
    check(EXACT, "/a/{}", "/a/{}", true);
    check(EXACT, "/a/{}", "/a/b", false);
}

#[test]
fn only_lists_that_decide_about_access_see_the_listen_path() {
    let mut builder = PatternBuilder::new(LOOSE, Arc::default());
    let mut list = EndpointList::default();
    list.push(builder.add("/users", false).unwrap(), "GET", 1);
    let mut hits = Hits::default();
    let mut other = PatternBuilder::new(LOOSE, Arc::default());
    assert_eq!(other.add("/users", false), Ok(0));
    other.decide_access();
    for (matcher, expect) in [(builder.build().unwrap(), None), (other.build().unwrap(), Some(&1))] {
        matcher.find("/list", Some("/users/rw/list"), &mut hits);
        assert_eq!((list.find(&hits, "GET"), list.find_for_any(&hits, "GET")), (None, None));
        assert_eq!(list.find_access(&hits, "GET"), expect);
        matcher.find("/users/1", Some("/x/users/1"), &mut hits);
        assert_eq!((list.find(&hits, "GET"), list.find_access(&hits, "GET")), (Some(&1), Some(&1)));
        matcher.find("/list", None, &mut hits);
        assert_eq!(list.find_access(&hits, "GET"), None, "nothing remains of another path");
    }
}

#[test]
fn the_first_entry_with_the_method_wins() {
    let mut builder = PatternBuilder::new(EXACT, Arc::default());
    let mut list = EndpointList::default();
    list.push(builder.add("/a", false).unwrap(), "POST", 1);
    list.push(builder.add("/[ab]", false).unwrap(), "", 2);
    list.push(builder.add("/A", true).unwrap(), "GET", 3);
    let matcher = builder.build().unwrap();
    let mut hits = Hits::default();
    matcher.find("/a", None, &mut hits);
    assert_eq!(list.find(&hits, "POST"), Some(&1));
    assert_eq!(list.find(&hits, "GET"), Some(&3));
    assert_eq!(list.find(&hits, "PUT"), None);
    assert_eq!(list.find_access(&hits, "GET"), Some(&2));
}

#[test]
fn a_broken_pattern_says_why() {
    let error = PatternBuilder::new(LOOSE, Arc::default()).add("/a(", false).unwrap_err();
    assert!(error.contains("missing closing )"), "{error}");
}

#[test]
fn a_broken_pattern_is_named_before_anything_is_matched() {
    for (pattern, part) in [
        ("/a[", "missing closing ]"),
        (r"/a\", "trailing backslash"),
        ("(a{1000}){1000}", "invalid repeat count"),
        ("((((a{0,100}){0,100}){0,100}){0,100}){0,100}", "invalid repeat count"),
        (r"\pL{1000}", "takes more than 1024 KiB"),
    ] {
        let error = PatternBuilder::new(LOOSE, Arc::default()).add(pattern, false).unwrap_err();
        assert!(error.contains(part), "{pattern}: {error}");
    }
    let error = PatternBuilder::new(LOOSE, Arc::default()).add(&"a".repeat(1 << 20), false).unwrap_err();
    assert!(error.contains("a pattern may have 64 KiB"), "{error}");
    let deep = format!("{}a{}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(PatternBuilder::new(LOOSE, Arc::default()).add(&deep, false).is_err());
}

#[test]
fn patterns_take_no_more_than_the_pool_has() {
    let pool = Arc::new(PatternPool::with_bytes_max(64 << 10));
    let mut builder = PatternBuilder::new(LOOSE, pool.clone());
    let error = (0..1_000).find_map(|number| builder.add(&format!("/p{number}/[a-f]+/x"), false).err()).unwrap();
    assert!(error.contains("the patterns of all APIs and keys take more than"), "{error}");
    assert!(pool.bytes() <= 64 << 10);
    drop(builder);
    assert_eq!((pool.bytes(), pool.len()), (0, 0), "what is not used is given back");
    let mut builder = PatternBuilder::new(LOOSE, pool.clone());
    assert!(builder.add("/p/[a-f]+/x", false).is_ok());
}

#[test]
fn equal_patterns_are_compiled_once_for_all_versions() {
    let pool = Arc::new(PatternPool::default());
    let build = || {
        let mut builder = PatternBuilder::new(EXACT, pool.clone());
        (0..100).for_each(|number| assert_eq!(builder.add(&format!("/p{number}/[a-f]+"), false), Ok(number)));
        builder.build().unwrap()
    };
    let first = build();
    let one = pool.bytes();
    let others: Vec<_> = (0..10).map(|_| build()).collect();
    assert_eq!(pool.len(), 100);
    assert!(pool.bytes() < 3 * one, "{} of {one}", pool.bytes());
    drop((first, others));
    assert_eq!(pool.bytes(), 0);
}

/// Makes a matcher of many patterns, numbered in order.
fn many(rules: PatternRules, patterns: &[String]) -> EndpointMatcher {
    let mut builder = PatternBuilder::new(rules, Arc::default());
    patterns.iter().for_each(|pattern| assert!(builder.add(pattern, false).is_ok(), "{pattern}"));
    builder.build().unwrap()
}

#[test]
fn of_ten_thousand_patterns_the_few_that_may_fit_are_matched() {
    let mut patterns = Vec::new();
    for number in 0..2_000 {
        patterns.push(format!("/p{number}/{{id}}/sub"));
        patterns.push(format!(r"^/svc{number}/(\w+)/(\d+)$"));
        patterns.push(format!("/api/{{tenant}}/things{number}/{{id}}"));
        patterns.push(format!("^/(?:a|b)/either{number}/[^/]*$"));
        patterns.push(format!("(?i)/Case{number}x/[0-9]"));
    }
    let matcher = many(LOOSE, &patterns);
    let mut hits = Hits::default();
    for (path, expect) in [
        ("/p17/1/sub", vec![85]),
        ("/x/p17/1/sub/more", vec![85]),
        ("/svc17/ab/12", vec![86]),
        ("/svc17/\u{e9}/12", vec![]),
        ("/svc17/ab/12x", vec![]),
        ("/api/t/things17/9", vec![87]),
        ("/b/either17/", vec![88]),
        ("/cASE17x/5", vec![89]),
        ("/p1/p2/sub/p3/9/sub", vec![5, 15]),
        ("/", vec![]),
    ] {
        matcher.find(path, None, &mut hits);
        assert_eq!(hits.patterns(), expect, "{path}");
        assert!(hits.candidates.len() <= 4, "{path}: {:?}", hits.candidates);
    }
}

#[test]
fn all_patterns_that_fit_are_found_however_many() {
    let patterns: Vec<String> = (0..3_000).map(|number| format!("/.{{0,{}}}z", number % 100 + 1)).collect();
    let matcher = many(LOOSE, &patterns);
    let mut hits = Hits::default();
    matcher.find("/z", None, &mut hits);
    assert_eq!(hits.patterns().len(), 100);
}

#[test]
fn a_list_finds_the_first_of_its_entries_among_many() {
    let mut builder = PatternBuilder::new(EXACT, Arc::default());
    let mut list = EndpointList::default();
    let mut other = EndpointList::default();
    for number in 0..1_000 {
        let pattern = builder.add(&format!("/p{}", 999 - number), false).unwrap();
        list.push(pattern, "GET", number);
        other.push(pattern, "", number);
    }
    let all = builder.add("/.*", false).unwrap();
    list.push(all, "GET", 1_000);
    list.push(builder.add("/p5", false).unwrap(), "GET", 1_001);
    let matcher = builder.build().unwrap();
    let mut hits = Hits::default();
    matcher.find("/p5", None, &mut hits);
    assert_eq!((list.find(&hits, "GET"), other.find_access(&hits, "PUT")), (Some(&994), Some(&994)));
    matcher.find("/q", None, &mut hits);
    assert_eq!((list.find(&hits, "GET"), list.find(&hits, "PUT"), other.find(&hits, "GET")), (Some(&1_000), None, None));
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn the_matcher_finds_what_each_patterns_own_expression_finds() {
    crate::mutation::Corpus::read("endpoints").each_and_mutated(1_000, invariants::matching);
}
