use super::*;
use crate::Role;

fn scope(tags: &[&str], orgs: &[&str]) -> OperatorScope {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    OperatorScope { tags: owned(tags), orgs: owned(orgs) }
}

#[test]
fn an_api_is_reached_by_a_tag_or_its_organisation() {
    let team = scope(&["team-a", "shop"], &["acme"]);
    for (tags, org, is_reached) in [
        (&["team-a"][..], "", true),
        (&["x", "shop"], "other", true),
        (&[], "acme", true),
        (&["team-b"], "other", false),
        (&["team"], "", false),
        (&[], "", false),
        (&["acme"], "team-a", false),
    ] {
        assert_eq!(team.has_api(tags.iter().copied(), org), is_reached, "{tags:?} {org}");
    }
    assert!(scope(&[], &[]).has_api(std::iter::empty(), ""));
}

#[test]
fn nobody_gets_everything_by_an_empty_scope() {
    assert!(check_grant(Role::Editor, Some(&scope(&[], &[]))).is_err());
    assert!(check_grant(Role::Editor, Some(&scope(&[""], &[]))).is_err());
    assert!(check_grant(Role::Editor, Some(&scope(&[], &["a\nb"]))).is_err());
    assert!(check_grant(Role::Editor, Some(&scope(&["a"; NAMES_MAX + 1], &[]))).is_err());
    assert!(check_grant(Role::Admin, Some(&scope(&["a"], &[]))).is_err());
    assert_eq!(check_grant(Role::Editor, Some(&scope(&["a"], &[]))), Ok(()));
    assert_eq!(check_grant(Role::Admin, None), Ok(()));
}
