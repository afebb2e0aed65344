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
        &[("Accept", "text/html,text/plain"), ("X-Tenant", "a")],
        &[("Accept", "text/html"), ("Accept", "text/plain"), ("X-Tenant", "a")],
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
