use super::{PeerCase, RunPlan};
use crate::peers;
use crate::record::RunSettings;
use crate::run::machines::{Machines, Role};
use crate::scenario::Scenario;
use crate::scenario::tests::shipped;
use std::path::PathBuf;

fn plan(names: &[&str], cpus: &[usize], threads: usize) -> RunPlan {
    let peers = names.iter().map(|name| super::SelectedPeer { adapter: peers::named(name).expect(name), program: PathBuf::new() });
    let settings = RunSettings { rounds: 5, seconds: 1.2, ..RunSettings::default() };
    RunPlan {
        scenarios: Vec::new(),
        peers: peers.collect(),
        peers_are_named: false,
        settings,
        threads,
        machines: Machines::of_cpus(cpus),
    }
}

fn scenario(name: &str) -> Scenario {
    let file = shipped().into_iter().find(|file| file.file_stem().is_some_and(|stem| stem == name)).expect(name);
    Scenario::read(&file).expect(name)
}

#[test]
fn the_upstream_is_measured_once_for_all_cases_that_ask_it_the_same() {
    let plan = plan(&["tollgate", "direct"], &[0, 1], 1);
    let targets = plan.targets(&scenario("varnish"));
    assert_eq!(targets.iter().filter(|target| target.peer == 1).collect::<Vec<_>>(), [&PeerCase { peer: 1, case: 0 }]);
    assert_eq!(targets.iter().filter(|target| target.peer == 0).count(), 7);
    let bodies = plan.targets(&scenario("bodies"));
    assert_eq!(bodies.iter().filter(|target| target.peer == 1).count(), 5, "every body is another question");
}

#[test]
fn gateways_get_cpus_of_their_own_where_there_are_enough() {
    let four = plan(&[], &[0, 1, 2, 3], 2);
    assert_eq!((four.cpus(Role::Gateway).as_str(), four.cpus(Role::Loader).as_str(), four.loader_threads()), ("0,1", "2,3", 2));
    let one = plan(&[], &[7], 1);
    assert_eq!((one.cpus(Role::Gateway).as_str(), one.cpus(Role::Loader).as_str(), one.loader_threads()), ("7", "7", 1));
}

#[test]
fn the_published_suite_takes_about_ten_minutes_on_five_gateways() {
    let plan = plan(&["tollgate", "direct", "nginx", "haproxy", "varnish"], &[0, 1], 1);
    let total: f64 = ["varnish", "gogc", "aws", "rush"].iter().map(|name| plan.estimate(&scenario(name)).as_secs_f64()).sum();
    assert!((400.0..900.0).contains(&total), "{total}");
}

#[test]
fn a_scenario_that_names_its_gateways_leaves_the_others_out() {
    let names = ["tollgate", "direct", "floor", "nginx", "varnish"];
    let mut plan = plan(&names, &[0, 1], 1);
    let measured = |plan: &RunPlan, name: &str| -> Vec<&'static str> {
        let peers: Vec<_> = plan.peers_of(&scenario(name)).map(|(_, peer)| peer.adapter.name()).collect();
        peers
    };
    assert_eq!(measured(&plan, "peers"), ["tollgate", "floor", "nginx"]);
    assert_eq!(measured(&plan, "varnish"), ["tollgate", "direct", "nginx", "varnish"], "the floor is in scenarios that name it");
    plan.peers_are_named = true;
    assert_eq!(measured(&plan, "peers"), names);
}

#[test]
fn the_floor_is_measured_once_for_what_is_served_and_once_for_what_is_refused() {
    let plan = plan(&["tollgate", "floor"], &[0, 1], 1);
    let keys = scenario("keys");
    let floor: Vec<&str> = (plan.targets(&keys).iter())
        .filter(|target| target.peer == 1)
        .filter_map(|target| Some(keys.case.get(target.case)?.name.as_str()))
        .collect();
    assert_eq!(floor, ["keyless", "refused: no key"]);
}
