use super::*;
use crate::engine::{ScriptCall, ScriptReply};
use crate::program::{Handler, ProgramBuilder};
use crate::sandbox::{Argument, SandboxEntry};
use crate::tests::NotedHost;

struct Nobody;

impl ScriptReply for Nobody {
    fn is_awaited(&self) -> bool {
        true
    }

    fn send(self: Box<Self>, _: Result<String, ScriptFault>) {}
}

fn lane() -> Arc<ScriptLane> {
    let limits = ScriptLimits { time_max: Duration::from_secs(5), memory_bytes_max: 1 << 20 };
    let lane = Arc::new(ScriptLane::new(0, ProgramBuilder::default().build(), Arc::new(NotedHost::default()), limits));
    lane.with(|queue| queue.loaded = Loaded::Yes);
    lane
}

fn enqueue(state: &mut State, lane: &Arc<ScriptLane>, now: Instant) {
    let arguments = [Argument::None, Argument::None, Argument::None, Argument::None];
    let call = ScriptCall { handler: Handler(0), entry: SandboxEntry::Event, arguments };
    assert!(state.enqueue(lane, Task { call, reply: Box::new(Nobody), deadline: now + Duration::from_secs(5) }).is_ok());
}

fn wants_new(state: &mut State, now: Instant) -> bool {
    matches!(state.wanted_thread(now), Some(WantedThread::New))
}

#[test]
fn as_many_calls_run_as_there_are_cpus_until_one_takes_long() {
    let (mut state, lane, now) = (State::new(2), lane(), Instant::now());
    (0..6).for_each(|_| enqueue(&mut state, &lane, now));
    let first = state.next(now).unwrap().serial;
    let second = state.next(now).unwrap().serial;
    assert!(state.next(now).is_none());
    state.end(first);
    let third = state.next(now + Duration::from_millis(1)).unwrap().serial;
    assert!(state.next(now + Duration::from_millis(1)).is_none());
    // The second may never end.
    assert!(state.next(now + SHORT_CALL).is_some());
    assert!(state.next(now + SHORT_CALL).is_none());
    state.end(second);
    state.end(third);
}

#[test]
fn a_call_that_waits_for_a_server_leaves_its_place() {
    let (mut state, lane, now) = (State::new(1), lane(), Instant::now());
    (0..2).for_each(|_| enqueue(&mut state, &lane, now));
    let first = state.next(now).unwrap().serial;
    assert!(state.next(now).is_none());
    state.wait(first, true);
    assert!(state.next(now).is_some());
}

#[test]
fn a_thread_is_wanted_for_each_call_that_may_run_and_one_to_watch() {
    let (mut state, lane, now) = (State::new(2), lane(), Instant::now());
    enqueue(&mut state, &lane, now);
    assert!(wants_new(&mut state, now));
    (0..4).for_each(|_| enqueue(&mut state, &lane, now));
    assert!(!wants_new(&mut state, now), "the one that comes wakes the next");
    let first = state.next(now).unwrap().serial;
    assert!(wants_new(&mut state, now));
    assert!(state.next(now).is_some());
    assert!(wants_new(&mut state, now), "nobody would notice that both never end");
    assert!(state.next(now).is_none());
    let watcher = std::thread::current();
    assert_eq!(state.begin_idle(watcher.clone()), SHORT_CALL);
    assert!(state.wanted_thread(now).is_none());
    state.end(first);
    assert!(state.wanted_thread(now).is_none(), "its thread takes the next call");
    assert_eq!(state.end_idle(&watcher), IdleEnd::ByItself);
}

#[test]
fn the_thread_that_was_busy_last_is_woken_first() {
    let (mut state, lane, now) = (State::new(2), lane(), Instant::now());
    let threads: Vec<Thread> = (0..2).map(|_| std::thread::spawn(std::thread::current).join().unwrap()).collect();
    for thread in &threads {
        assert_eq!(state.begin_idle(thread.clone()), IDLE_MAX);
    }
    enqueue(&mut state, &lane, now);
    let Some(WantedThread::Idle(woken)) = state.wanted_thread(now) else { panic!("a thread is idle") };
    assert_eq!(woken.id(), threads[1].id());
    assert_eq!(state.end_idle(&threads[1]), IdleEnd::Woken);
    assert_eq!(state.end_idle(&threads[0]), IdleEnd::ByItself);
}

#[test]
fn an_api_with_endless_calls_leaves_room_for_others() {
    let (mut state, bad, good, now) = (State::new(2), lane(), lane(), Instant::now());
    (0..20).for_each(|_| enqueue(&mut state, &bad, now));
    let mut later = now;
    for _ in 0..RUNNING_PER_API_MAX {
        assert!(state.next(later).is_some());
        later += SHORT_CALL;
    }
    assert!(state.next(later).is_none(), "its calls are limited");
    enqueue(&mut state, &good, later);
    assert!(Arc::ptr_eq(&state.next(later).unwrap().lane, &good));
}

#[test]
fn endless_calls_of_many_apis_leave_room_for_the_first_of_another() {
    let (mut state, bad, now) = (State::new(2), [lane(), lane(), lane(), lane(), lane()], Instant::now());
    bad.iter().for_each(|bad| (0..20).for_each(|_| enqueue(&mut state, bad, now)));
    let mut later = now;
    let mut running = 0;
    while state.next(later).is_some() {
        running += 1;
        later += SHORT_CALL;
    }
    assert_eq!(running, RUNNING_MAX);
    let good = lane();
    (0..2).for_each(|_| enqueue(&mut state, &good, later));
    assert!(Arc::ptr_eq(&state.next(later).unwrap().lane, &good));
    later += SHORT_CALL;
    assert!(state.next(later).is_none(), "its second call waits for a place");
}
