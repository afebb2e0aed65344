//! Names and values of headers in the key.

use super::*;
use tollgate_cache::header_values;

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
    // Servers may take both for one; this upstream may not.
    assert_ne!(of(&[("X_Forwarded_Host", "de")]), of(&[("x-forwarded-host", "de")]));
    assert_eq!(of(&[("X_Forwarded_Host", "de")]), of(&[("x_forwarded_host", "de")]));
    assert_eq!(names_in_key(&["Range".to_owned(), "if-none-match".to_owned()]).len(), ALWAYS_IN_KEY.len());
}
