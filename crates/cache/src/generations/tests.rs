use super::{Generations, Labels, Purge, Purged, TAGS_MAX, tags};

const LABELS: Labels<'static> = Labels { secret: &[1; 32], api: "a" };

#[test]
fn a_purge_meets_what_is_below_it_and_nothing_else() {
    let cases: &[(&str, &str, bool)] = &[
        ("/a", "/a", true),
        ("/a", "/a/", true),
        ("/a", "/a/b", true),
        ("/a", "/a?x", true),
        ("/a/", "/a/b/c?x=/y", true),
        ("/a/", "/a", true),
        ("/", "/a/b", true),
        ("", "/a/b", true),
        ("/a", "/ab", false),
        ("/a", "/b/a", false),
        ("/a/b", "/a", false),
        ("/a/b", "/a/c?/a/b", false),
        ("/A", "/a", false),
        ("/a", "/%61", false),
        ("/a//", "/a/b", false),
        ("/a//", "/a//b", true),
    ];
    for (prefix, target, expect) in cases {
        let generations = Generations::new();
        let born = generations.now();
        let labels = LABELS.of_request(target.as_bytes());
        assert_eq!(generations.check(&labels, born), Purged::No);
        generations.purge(LABELS.folder(prefix.as_bytes()), Purge::Hard);
        assert_eq!(generations.check(&labels, born) == Purged::Hard, *expect, "{prefix} {target}");
        assert_eq!(generations.check(&labels, generations.now()), Purged::No, "what comes later stays");
    }
}

#[test]
fn a_prefix_that_is_deeper_than_labels_go_purges_more_and_never_less() {
    let generations = Generations::new();
    let path = "/x".repeat(40);
    let labels = LABELS.of_request(path.as_bytes());
    generations.purge(LABELS.folder("/x".repeat(30).as_bytes()), Purge::Hard);
    assert_eq!(generations.check(&labels, 0), Purged::Hard);
}

#[test]
fn apis_are_purged_apart() {
    let generations = Generations::new();
    generations.purge(LABELS.url(b"/x"), Purge::Soft);
    assert_eq!(generations.check(&LABELS.of_request(b"/x"), 0), Purged::Soft);
    assert_eq!(generations.check(&Labels { api: "b", ..LABELS }.of_request(b"/x"), 0), Purged::No);
}

#[test]
fn tags_are_read_from_all_fields() {
    let lines = [("Surrogate-Key", "a b\tc"), ("xkey", "d"), ("Cache-Tag", "e, f,,"), ("X", "g")];
    let read = tags(&lines).unwrap();
    assert_eq!(read, [b"a", b"b", b"c", b"d", b"e", b"f"]);
    let many = vec!["t"; TAGS_MAX + 1].join(" ");
    assert_eq!(tags(&[("xkey", many.as_str())]), None);
}
