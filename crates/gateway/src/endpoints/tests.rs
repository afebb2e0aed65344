use super::*;

const LOOSE: PatternRules = PatternRules { prefix: false, suffix: false, ignore_case: false };
const EXACT: PatternRules = PatternRules { prefix: true, suffix: true, ignore_case: false };

fn check(rules: PatternRules, pattern: &str, path: &str, expect: bool) {
    let mut builder = PatternBuilder::new(rules);
    let number = builder.add(pattern, false).unwrap();
    let matcher = builder.build().unwrap();
    let mut hits = Hits::default();
    matcher.find([path].into_iter(), &mut hits);
    assert_eq!(hits.contains(number), expect, "{pattern} {path} {rules:?}");
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
}

#[test]
fn the_first_entry_with_the_method_wins() {
    let mut builder = PatternBuilder::new(EXACT);
    let mut list = EndpointList::default();
    list.push(builder.add("/a", false).unwrap(), "POST", 1);
    list.push(builder.add("/[ab]", false).unwrap(), "", 2);
    list.push(builder.add("/A", true).unwrap(), "GET", 3);
    let matcher = builder.build().unwrap();
    let mut hits = Hits::default();
    matcher.find(["/a"].into_iter(), &mut hits);
    assert_eq!(list.find(&hits, "POST"), Some(&1));
    assert_eq!(list.find(&hits, "GET"), Some(&3));
    assert_eq!(list.find(&hits, "PUT"), None);
    assert_eq!(list.find_access(&hits, "GET"), Some(&2));
}

#[test]
fn a_broken_pattern_says_why() {
    let error = PatternBuilder::new(LOOSE).add("/a(", false).unwrap_err();
    assert!(error.contains("unclosed group"), "{error}");
}
