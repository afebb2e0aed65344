use super::{ALL, Setup, SinkPorts, find, named, names};
use crate::machine::Machine;
use crate::scenario::tests::shipped;
use crate::scenario::{Case, Scenario};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

fn setup<'a>(dir: &Path, cases: Vec<&'a Case>) -> Setup<'a> {
    Setup {
        program: PathBuf::from("x"),
        dir: dir.to_owned(),
        listen_address: Ipv4Addr::LOCALHOST.into(),
        address: SocketAddr::from(([127, 0, 0, 1], 8080)),
        second_port: 8081,
        upstream: SocketAddr::from(([127, 0, 0, 1], 9090)),
        threads: 2,
        cases,
        certificate: None,
        sink_ports: SinkPorts { statsd: 8125, collector: 4318 },
        secret: "secret".to_owned(),
    }
}

#[test]
fn names_are_unique_and_found() {
    for peer in ALL {
        assert_eq!(named(peer.name()).map(super::PeerAdapter::name), Some(peer.name()));
        assert_eq!(ALL.iter().filter(|other| other.name() == peer.name()).count(), 1);
    }
    assert!(named("apache").is_none());
    assert!(names().starts_with("tollgate, direct, floor, nginx"));
}

#[test]
fn a_missing_program_is_said_with_what_to_do() {
    let tyk = named("tyk").expect("tyk");
    let problem =
        find(tyk, Some(Path::new("/nowhere/tyk")), &Machine::here(Ipv4Addr::LOCALHOST.into())).expect_err("there is none");
    assert_eq!(problem, "/nowhere/tyk: there is no program");
}

#[test]
fn every_gateway_writes_a_configuration_for_every_case_that_it_can_do() {
    for file in shipped() {
        let scenario = Scenario::read(&file).expect("a scenario");
        for peer in ALL {
            let dir = tempfile::tempdir().expect("a directory");
            let cases: Vec<_> = scenario.case.iter().filter(|case| peer.cannot(case).is_none()).collect();
            // Ten thousand files per gateway prove no more than a hundred.
            let cases: Vec<_> = cases.into_iter().filter(|case| case.api.among <= 100).collect();
            if cases.is_empty() {
                continue;
            }
            let launch = peer.prepare(&setup(dir.path(), cases)).expect("a configuration");
            assert_eq!(launch.gateway.is_some(), peer.program().is_some(), "{}", peer.name());
        }
    }
}

/// The gateway built next to this test.
fn tollgate() -> PathBuf {
    let own = std::env::current_exe().expect("this program's path");
    let built = own.ancestors().map(|directory| directory.join("tollgate")).find(|file| file.is_file());
    built.expect("no gateway is built: run `cargo build --bin tollgate` with this profile, or `make test`")
}

#[test]
fn our_own_gateway_accepts_every_scenario_s_configuration() {
    let program = tollgate();
    for file in shipped() {
        let scenario = Scenario::read(&file).expect("a scenario");
        let dir = tempfile::tempdir().expect("a directory");
        let cases: Vec<_> = scenario.case.iter().filter(|case| case.api.among <= 100).collect();
        named("tollgate").expect("ours").prepare(&setup(dir.path(), cases)).expect("a configuration");
        let checked = Command::new(&program)
            .arg("check")
            .arg(dir.path().join("tyk.conf"))
            .arg(dir.path().join("apps"))
            .output()
            .expect("tollgate check");
        assert!(checked.status.success(), "{}:\n{}", file.display(), String::from_utf8_lossy(&checked.stdout));
    }
}

#[test]
fn nginx_accepts_every_scenario_s_configuration() {
    let nginx = named("nginx").expect("nginx");
    let program =
        find(nginx, None, &Machine::here(Ipv4Addr::LOCALHOST.into())).expect("nginx is installed (scripts/test-deps.sh tests)");
    for file in shipped() {
        let scenario = Scenario::read(&file).expect("a scenario");
        let dir = tempfile::tempdir().expect("a directory");
        let cases: Vec<_> = scenario.case.iter().filter(|case| nginx.cannot(case).is_none() && case.api.among <= 100).collect();
        if cases.is_empty() {
            continue;
        }
        nginx.prepare(&setup(dir.path(), cases)).expect("a configuration");
        let checked = Command::new(&program)
            .args(["-t", "-e", "stderr", "-c"])
            .arg(dir.path().join("nginx.conf"))
            .output()
            .expect("nginx -t");
        assert!(checked.status.success(), "{}:\n{}", file.display(), String::from_utf8_lossy(&checked.stderr));
    }
}
