use super::{AUTH, POST_AUTH, PRE_AUTH};
use std::collections::BTreeSet;

#[test]
fn each_middleware_has_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for listed in PRE_AUTH.iter().chain(AUTH).chain(POST_AUTH) {
        // Hooks after everything have two places, of which an API uses one.
        assert!(names.insert(listed.about.name) || listed.about.name == "PostHooks", "{}", listed.about.name);
    }
}
