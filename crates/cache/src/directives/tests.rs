use super::{DeltaSeconds, RequestDirectives, ResponseDirectives};
use crate::syntax::DELTA_SECONDS_MAX;

fn response(lines: &[&str]) -> ResponseDirectives {
    let mut directives = ResponseDirectives::default();
    lines.iter().for_each(|line| directives.add_line(line.as_bytes()));
    directives
}

#[test]
fn max_age_is_read_strictly() {
    let cases: &[(&[&str], DeltaSeconds)] = &[
        (&["max-age=60"], DeltaSeconds::Of(60)),
        (&["MAX-AGE=60"], DeltaSeconds::Of(60)),
        (&["public,max-age=60,,"], DeltaSeconds::Of(60)),
        (&["max-age=\"60\""], DeltaSeconds::Of(60)),
        (&["max-age=007"], DeltaSeconds::Of(7)),
        (&["x=\"a,max-age=1\", max-age=60"], DeltaSeconds::Of(60)),
        (&["x=\"\\\",max-age=1\", max-age=60"], DeltaSeconds::Of(60)),
        (&["max-age=60", "max-age=60"], DeltaSeconds::Of(60)),
        (&["max-age=60, max-age=30"], DeltaSeconds::Invalid),
        (&["max-age=60", "max-age=30"], DeltaSeconds::Invalid),
        (&["max-age"], DeltaSeconds::Invalid),
        (&["max-age="], DeltaSeconds::Invalid),
        (&["max-age=-1"], DeltaSeconds::Invalid),
        (&["max-age=+1"], DeltaSeconds::Invalid),
        (&["max-age=1.5"], DeltaSeconds::Invalid),
        (&["max-age= 60"], DeltaSeconds::Invalid),
        (&["max-age = 60"], DeltaSeconds::Invalid),
        (&["max-age=60;x"], DeltaSeconds::Invalid),
        (&["max-age=99999999999999999999999"], DeltaSeconds::Of(DELTA_SECONDS_MAX)),
        (&["max-age 60"], DeltaSeconds::Absent),
        (&["x-max-age=60"], DeltaSeconds::Absent),
        (&["x=\"max-age=60"], DeltaSeconds::Absent),
        (&[""], DeltaSeconds::Absent),
    ];
    for (lines, expect) in cases {
        assert_eq!(response(lines).max_age, *expect, "{lines:?}");
    }
}

#[test]
fn what_forbids_is_found_in_every_form() {
    for line in ["no-store", "No-Store", "no-store=x", "a=\"b\",no-store", "no-store;a", " no-store ", "max-age=1 , no-store"] {
        let expect = !line.contains(';');
        assert_eq!(response(&[line]).no_store, expect, "{line}");
    }
    assert!(response(&["private=\"set-cookie, x\""]).private);
    assert!(response(&["no-cache=\"set-cookie\""]).no_cache);
    assert!(response(&["max-age=1", "no-cache"]).no_cache);
}

#[test]
fn a_targeted_field_is_a_structured_field_or_nothing() {
    let targeted = |value: &str| ResponseDirectives::targeted(value.as_bytes());
    assert_eq!(targeted("max-age=60").map(|directives| directives.max_age), Some(DeltaSeconds::Of(60)));
    assert_eq!(targeted("max-age=60;a=b, no-store").map(|directives| directives.no_store), Some(true));
    assert_eq!(targeted("no-store=?0, max-age=1").map(|directives| directives.no_store), Some(false));
    assert_eq!(targeted("private=\"set-cookie\"").map(|directives| directives.private), Some(true));
    assert_eq!(
        targeted("max-age=1, max-age=2").map(|directives| directives.max_age),
        Some(DeltaSeconds::Of(2)),
        "the last one counts"
    );
    assert_eq!(targeted("max-age=abc").map(|directives| directives.max_age), Some(DeltaSeconds::Absent), "a token is no number");
    assert_eq!(targeted("max-age=-1").map(|directives| directives.max_age), Some(DeltaSeconds::Invalid));
    for broken in ["", "  ", "Max-Age=60", "max-age=", "max-age=60,", "max-age=\"60", "max-age = 60", "max-age=60 no-store"] {
        assert_eq!(targeted(broken), None, "{broken}");
    }
}

#[test]
fn request_directives_are_read_strictly() {
    let read = |line: &str| {
        let mut directives = RequestDirectives::default();
        directives.add_line(line.as_bytes());
        directives
    };
    assert_eq!(read("max-age=0").max_age, Some(0));
    assert_eq!(read("max-age=x").max_age, Some(0));
    assert_eq!(read("max-age=5, max-age=3").max_age, Some(3));
    assert_eq!(read("min-fresh=3, min-fresh=5").min_fresh, Some(5));
    assert_eq!(read("min-fresh=x").min_fresh, Some(u64::MAX));
    assert_eq!(read("max-stale").max_stale, Some(u64::MAX));
    assert_eq!(read("max-stale=10").max_stale, Some(10));
    assert_eq!(read("max-stale=x").max_stale, Some(0));
    assert!(read("only-if-cached, no-cache").only_if_cached);
    assert!(read("no-store").no_store);
}
