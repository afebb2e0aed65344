use super::{Agent, answer_all, remove_uploaded};
use crate::machine::Program;
use crate::machine::order::{AgentOrder, AgentReply, SentFile};
use std::fs;
use std::path::Path;

fn answers(agent: &mut Agent, orders: &[AgentOrder]) -> Vec<Result<AgentReply, String>> {
    let lines: String = orders.iter().map(|order| format!("{}\n", serde_json::to_string(order).expect("JSON"))).collect();
    let mut replies = Vec::new();
    answer_all(agent, &mut lines.as_bytes(), &mut replies).expect("replies");
    let replies = String::from_utf8(replies).expect("text");
    replies.lines().map(|line| serde_json::from_str(line).expect("a reply")).collect()
}

fn answer(agent: &mut Agent, order: AgentOrder) -> Result<AgentReply, String> {
    answers(agent, &[order]).remove(0)
}

#[test]
fn a_program_is_started_watched_and_ended_with_the_agent() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().join("run/deeper");
    let mut agent = Agent::default();
    let file = directory.path().join("script");
    fs::write(&file, "echo started; exec sleep 600").expect("a file");
    let mut sent = SentFile::read(&file).expect("a file");
    sent.path = root.join("script");
    let made = answers(&mut agent, &[AgentOrder::Directory(root.clone()), AgentOrder::Write(sent)]);
    assert!(made.iter().all(|reply| matches!(reply, Ok(AgentReply::Done))), "{made:?}");
    let program = Program::new("sleeper", Path::new("/bin/sh")).args(["script"]);
    let start = AgentOrder::Start { program, cpus: "0".to_owned(), directory: root.clone() };
    let id = answer(&mut agent, start).and_then(AgentReply::id).expect("an id");
    while answer(&mut agent, AgentOrder::Tail { id }).and_then(AgentReply::text).as_deref() != Ok("started") {
        std::thread::yield_now();
    }
    assert_eq!(answer(&mut agent, AgentOrder::Ended { id }).and_then(AgentReply::end), Ok(None));
    answer(&mut agent, AgentOrder::Usage { id }).and_then(AgentReply::usage).expect("its usage");
    let memory_kib = answer(&mut agent, AgentOrder::Memory { id }).and_then(AgentReply::count).expect("its memory");
    assert!(memory_kib > 0);
    let log = answer(&mut agent, AgentOrder::Read(root.join("sleeper.log"))).and_then(AgentReply::bytes);
    assert_eq!(log.as_deref(), Ok(b"started\n".as_slice()));
    drop(agent);
    assert!(!Path::new(&format!("/proc/{id}")).exists(), "the program has ended");
    assert!(!directory.path().join("run").exists() && file.exists(), "what the agent made is removed, and nothing else");
}

#[test]
fn orders_that_cannot_be_followed_are_answered_with_the_reason() {
    let mut agent = Agent::default();
    let mut replies = Vec::new();
    answer_all(&mut agent, &mut b"no order\n".as_slice(), &mut replies).expect("a reply");
    assert!(String::from_utf8_lossy(&replies).contains("the order cannot be read"));
    let missing = answer(&mut agent, AgentOrder::Read("/nowhere".into()));
    assert!(missing.is_err_and(|reason| reason.starts_with("/nowhere: No such file")));
    let unknown = answer(&mut agent, AgentOrder::Find { program: "no-such-program".to_owned() });
    assert!(unknown.is_err_and(|reason| reason == "no program `no-such-program` is installed"));
    assert!(answer(&mut agent, AgentOrder::Ended { id: 1 }).is_err_and(|reason| reason == "there is no process 1"));
    assert!(answer(&mut agent, AgentOrder::FreePort).and_then(AgentReply::text).is_err());
}

#[test]
fn only_a_directory_of_uploaded_programs_is_removed() {
    let parent = tempfile::tempdir().expect("a directory");
    let (own, other) = (parent.path().join("tollgate-bench-programs.a"), parent.path().join("bin"));
    for directory in [&own, &other] {
        fs::create_dir(directory).expect("a directory");
        remove_uploaded(directory);
    }
    assert!(!own.exists() && other.exists());
}
