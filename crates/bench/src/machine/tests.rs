use super::{Child, Machine};
use super::{Program, own_program};
use crate::interrupt::Interrupt;
use crate::probe::HOST;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_program_that_ends_early_is_told_with_its_last_words() {
    let machine = Arc::new(Machine::here(HOST.parse().expect("an address")));
    let directory = tempfile::tempdir().expect("a directory");
    let program = Program::new("brief", std::path::Path::new("/bin/sh")).args(["-c", "echo no licence; exit 3"]);
    let child = Child::start(&machine, &program, "0", directory.path()).expect("it starts");
    let port = machine.free_port().expect("a port");
    let problem = child.await_answer(machine.at(port).into(), None, Duration::from_secs(60), &Interrupt::default());
    let problem = problem.expect_err("it has ended");
    assert!(problem.contains("brief ended before it answered (exit status: 3)") && problem.ends_with("no licence"), "{problem}");
}

#[test]
fn what_is_sent_to_this_machine_stays_where_it_is() {
    let machine = Machine::here(HOST.parse().expect("an address"));
    let directory = tempfile::tempdir().expect("a directory");
    machine.send(directory.path()).expect("nothing to do");
    let own = own_program().expect("a path");
    assert_eq!(machine.copied(&own), Ok(own.clone()));
    assert_eq!((machine.bench(), machine.find_path(&own)), (Ok(own.clone()), Ok(Some(own))));
    assert_eq!(machine.listen_address(), machine.address);
}
