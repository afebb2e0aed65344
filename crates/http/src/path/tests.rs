use super::*;

#[path = "invariants.rs"]
mod invariants;

#[test]
fn unclean_paths_are_cleaned_as_a_file_system_would() {
    let check = |path: &str, expect: Option<&str>| assert_eq!(clean(path).as_deref(), expect, "{path}");
    check("/a/b", None);
    check("/a/b/", None);
    check("/a/.b", None);
    check("/", None);
    check("//", Some("/"));
    check("/a//b", Some("/a/b"));
    check("/a/./b", Some("/a/b"));
    check("/a/../b/", Some("/b/"));
    check("/../..", Some("/"));
    check("/a/..", Some("/"));
}

#[test]
fn positions_in_both_forms_of_a_path_correspond() {
    let path = Path::new("/a%20b/c%2Fd".into()).unwrap();
    assert_eq!(path.decoded, "/a b/c/d");
    assert_eq!(raw_offset(&path.raw, 4), 6);
    assert_eq!(raw_offset(&path.raw, 100), path.raw.len());
    assert!(Path::new("/a%2".into()).is_none());
    assert!(Path::new("/a%zz".into()).is_none());
    assert_eq!(encode("/a b/%ü"), "/a%20b/%25%C3%BC");
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn both_forms_of_any_path_correspond_and_a_clean_one_climbs_nowhere() {
    crate::mutation::Corpus::read("path").each_and_mutated(20_000, invariants::path);
}
