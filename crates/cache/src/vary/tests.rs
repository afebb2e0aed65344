use super::{Vary, VaryNames};
use crate::key::KeyHasher;

fn read(lines: &[&str]) -> Vary {
    Vary::read(lines.iter().map(|line| line.as_bytes()))
}

fn names(lines: &[&str]) -> VaryNames {
    match read(lines) {
        Vary::By(names) => names,
        other => panic!("{other:?}"),
    }
}

#[test]
fn vary_is_read_from_all_lines() {
    assert_eq!(read(&[]), Vary::Nothing);
    assert_eq!(read(&["", " , "]), Vary::Nothing);
    assert_eq!(read(&["Accept, accept-encoding"]), read(&["Accept-Encoding", "ACCEPT, accept"]));
    for all in [&["*"][..], &["accept, *"], &["accept", "*"], &["a b"], &["\u{e9}"], &["\"accept\""]] {
        assert_eq!(read(all), Vary::Everything, "{all:?}");
    }
    let many = (0..17).map(|number| format!("x-{number}")).collect::<Vec<_>>().join(",");
    assert_eq!(read(&[&many]), Vary::Everything);
}

#[test]
fn a_variant_is_chosen_by_the_values_of_its_names_alone() {
    let primary = KeyHasher::new("test").finish();
    let names = names(&["Accept, X-Tenant"]);
    let key = |lines: &[(&str, &str)]| names.key_of(&primary, &lines);
    let base = key(&[("Accept", "text/html, text/plain"), ("X-Tenant", "a")]);
    let same: &[&[(&str, &str)]] = &[
        &[("accept", "text/html, text/plain"), ("x-tenant", "a")],
        &[("X-Other", "1"), ("X-Tenant", "a"), ("Accept", "text/html, text/plain")],
        &[("Accept", "text/html,text/plain"), ("X-Tenant", "a")],
        &[("Accept", "text/html"), ("Accept", "text/plain"), ("X-Tenant", "a")],
    ];
    for lines in same {
        assert_eq!(key(lines), base, "{lines:?}");
    }
    let others: &[&[(&str, &str)]] = &[
        &[],
        &[("Accept", "text/html, text/plain")],
        &[("Accept", "text/html, text/plain"), ("X-Tenant", "")],
        &[("Accept", "text/html, text/plain"), ("X-Tenant", "A")],
        &[("Accept", "text/plain, text/html"), ("X-Tenant", "a")],
        &[("Accept", "text/html, text/plain"), ("X-Tenant", "a"), ("X-Tenant", "a")],
        &[("Accept", "text/html, text/plain"), ("X-Tenant", "a,")],
        &[("Accept", "a"), ("X-Tenant", "text/html, text/plain")],
        &[("Accept", "text/html, text/plain, a")],
    ];
    let mut keys: Vec<_> = others.iter().map(|lines| key(lines)).collect();
    keys.push(base);
    for (at, one) in keys.iter().enumerate() {
        assert!(!keys[at + 1..].contains(one), "two requests with different headers share a variant");
    }
    assert_eq!(names.union(&names), Some(names.clone()));
}

#[test]
fn values_share_a_variant_if_they_mean_the_same_for_certain() {
    let primary = KeyHasher::new("test").finish();
    let key = |name: &str, values: &[&str]| {
        let lines: Vec<_> = values.iter().map(|value| (name, *value)).collect();
        names(&[name]).key_of(&primary, &lines.as_slice())
    };
    for (name, one, other, is_same) in [
        ("X-A", &["1, 2"][..], &["1,2"][..], true),
        ("X-A", &["1, 2"], &["1", "2"], true),
        ("X-A", &["1,\t2"], &["1 ,2"], true),
        ("X-A", &["1, 2"], &["2, 1"], false),
        ("X-A", &["a"], &["A"], false),
        ("X-A", &["a"], &["a,"], false),
        ("X-A", &["a"], &["a", ""], false),
        ("X-A", &["a, "], &["a", ""], true),
        ("X-A", &[""], &["", ""], false),
        ("X-A", &["\"a,b\""], &["\"a, b\""], false),
        ("X-A", &[], &[""], false),
        ("Accept-Language", &["en, de"], &["eN ,  De"], true),
        ("Accept-Language", &["en, de;q=0.5"], &["en", "de; q=0.5"], true),
        ("Accept-Language", &["en, de"], &["de, en"], false),
        ("Accept-Language", &["en"], &["en, "], true),
        ("Accept-Language", &[], &[""], false),
        ("Accept-Encoding", &["gzip, br"], &["GZIP,br"], true),
        ("Accept-Encoding", &["gzip, br"], &["gzip"], false),
        ("Accept", &["text/html, */*"], &["text/html,,*/*"], true),
        ("Accept", &["text/html"], &["text/HTML"], false),
        ("Cookie", &["a=1, 2"], &["a=1,2"], false),
        ("Cookie", &["a=1", "b=2"], &["a=1, b=2"], false),
        ("Origin", &["http://a"], &["http://A"], false),
        ("User-Agent", &["a (b, c)"], &["a (b,c)"], false),
    ] {
        assert_eq!(key(name, one) == key(name, other), is_same, "{name}: {one:?} {other:?}");
    }
}

#[test]
fn what_the_cache_does_not_send_on_selects_nothing() {
    assert_eq!(read(&["Range, if-none-match"]), Vary::Nothing);
    assert_eq!(read(&["Accept, If-Range"]), read(&["accept"]));
}
