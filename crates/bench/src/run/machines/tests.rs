use super::{MachineOptions, Machines, Role};
use clap::Parser;

#[derive(Debug, Parser)]
struct Typed {
    #[command(flatten)]
    machines: MachineOptions,
}

fn typed(words: &[&str]) -> Result<Machines, String> {
    let words = ["x"].iter().chain(words);
    let typed = Typed::try_parse_from(words).map_err(|error| error.to_string())?;
    Machines::open(&typed.machines)
}

#[test]
fn without_hosts_one_machine_does_all() {
    let machines = typed(&[]).expect("this machine");
    assert!(machines.are_one());
    assert!(machines.gateway.listen_address().is_loopback());
}

#[test]
fn what_is_wrong_with_hosts_is_said() {
    for (words, reason) in [
        (["--hosts", "gateway"].as_slice(), "is not ROLE=[USER@]HOST[:PORT]"),
        (&["--hosts", "store=127.0.0.2"], "a role is loader, gateway or upstream"),
        (&["--hosts", "gateway=127.0.0.2,gateway=127.0.0.3"], "two machines for the gateway"),
        (&["--hosts", "loader=127.0.0.2"], "give --address"),
        (&["--ssh", "ssh -v"], "--hosts"),
        (&["--hosts", "gateway=127.0.0.2,upstream=127.0.0.3", "--ssh", "false"], "127.0.0.2: `mktemp"),
    ] {
        let problem = typed(words).err().unwrap_or_default();
        assert!(problem.contains(reason), "{words:?}: {problem}");
    }
}

#[test]
fn a_role_has_the_cpus_that_the_gateways_leave() {
    let machines = Machines::of_cpus(&[0, 1, 2, 5]);
    let of = |role: Role, threads: usize| machines.cpus(role, threads);
    assert_eq!((of(Role::Gateway, 3), of(Role::Loader, 3), of(Role::Upstream, 3)), ("0,1,2".into(), "5".into(), "5".into()));
    assert_eq!((of(Role::Gateway, 4), of(Role::Loader, 4)), ("0,1,2,5".into(), "0,1,2,5".into()));
    assert_eq!((machines.gateway_threads(), machines.loader_threads(2), machines.store_cpus(3)), (2, 2, "5".into()));
}
