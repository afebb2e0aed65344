use super::{AUTH, ChainPhase, POST_AUTH, PRE_AUTH};
use std::collections::BTreeSet;

#[test]
fn each_middleware_is_in_the_list_of_its_phase_under_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for (list, phase) in [(PRE_AUTH, ChainPhase::PreAuth), (AUTH, ChainPhase::Auth), (POST_AUTH, ChainPhase::PostAuth)] {
        for listed in list {
            assert_eq!(listed.0.phase, phase, "{}", listed.0.name);
            // Hooks after everything have two places, of which an API uses one.
            assert!(names.insert(listed.0.name) || listed.0.name == "PostHooks", "{}", listed.0.name);
        }
    }
}
