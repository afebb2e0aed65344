//! Names and values of headers in the key.

use super::*;

#[test]
fn values_of_one_name_are_kept_together_and_apart_from_others() {
    let names = names_in_key(&["X-Lang".to_owned(), "x_forwarded_host".to_owned()]);
    assert_eq!(names.len(), ALWAYS_IN_KEY.len() + 1, "{names:?}");
    let of = |lines: &[(&str, &str)]| header_values(&names, &lines);
    let all = [
        of(&[]),
        of(&[("X-Lang", "")]),
        of(&[("X-Lang", "de")]),
        of(&[("X-Lang", "de, en")]),
        of(&[("X-Lang", "de"), ("X-Lang", "en")]),
        of(&[("X-Forwarded-Host", "de")]),
        of(&[("X-Forwarded-Host", "de"), ("X-Forwarded-Host", "en")]),
    ];
    for (index, one) in all.iter().enumerate() {
        for other in &all[..index] {
            assert_ne!(one, other);
        }
    }
    assert_eq!(of(&[("x-lang", "de"), ("X-Other", "1")]), of(&[("X-LANG", "de")]));
    assert_eq!(of(&[("X_Forwarded_Host", "de")]), of(&[("x-forwarded-host", "de")]));
}
