use super::{memory_kib, tree, usage};
use std::process::{Command, Stdio};

#[test]
fn cpu_time_of_children_counts() {
    // It sleeps afterwards: a shell in the background has no input to wait for.
    let spin = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 60";
    let nested = format!("sh -c '{spin}' & wait");
    let mut child = Command::new("sh").args(["-c", &nested]).stdin(Stdio::piped()).spawn().expect("a shell");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while (tree(child.id()).len() < 2 || usage(child.id()).cpu_ns < 5_000_000) && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let spent = usage(child.id());
    assert!(tree(child.id()).len() >= 2, "the nested shell is part of the tree");
    assert!(spent.cpu_ns >= 5_000_000, "{spent:?}");
    assert!(memory_kib(child.id()) > 0);
    for pid in tree(child.id()).into_iter().rev() {
        let _ = Command::new("kill").arg(pid.to_string()).status();
    }
    let _ = child.wait();
}

#[test]
fn cpu_time_of_children_that_have_ended_still_counts() {
    let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let mut child =
        Command::new("sh").args(["-c", &format!("sh -c '{spin}'; read wait")]).stdin(Stdio::piped()).spawn().expect("a shell");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let mut most = 0;
    // Until only the waiting shell is left.
    while std::time::Instant::now() < deadline && !(most > 50_000_000 && tree(child.id()).len() == 1) {
        most = most.max(usage(child.id()).cpu_ns);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let ended = usage(child.id()).cpu_ns;
    assert!(ended + 30_000_000 > most && ended > 50_000_000, "{ended} of {most}");
    drop(child.stdin.take());
    let _ = child.wait();
}

#[test]
fn a_process_that_is_gone_has_used_nothing() {
    assert_eq!(usage(u32::MAX).cpu_ns, 0);
    assert_eq!(memory_kib(u32::MAX), 0);
}
