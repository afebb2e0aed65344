use super::*;
use std::sync::mpsc::channel;

#[test]
fn all_slow_loads_together_have_one_second_and_a_part_of_the_time_that_passes() {
    let gate = LoadGate::default();
    let mut state = gate.lock();
    let now = state.patience_at;
    let mut waited = Duration::ZERO;
    for _ in 0..48 {
        let wait = state.wait_max(now).unwrap();
        state.note_wait(wait);
        state.patience_at = now;
        waited += wait;
    }
    assert_eq!(waited, SLOW_TIME_MAX + 48 * WAIT_MIN);
    assert_eq!(state.wait_max(now), Some(WAIT_MIN));
    assert_eq!(state.wait_max(now + Duration::from_secs(2)), Some(WAIT_MIN + Duration::from_millis(200)));
    assert_eq!(state.wait_max(now + Duration::from_secs(60)), Some(WAIT_MIN + SLOW_TIME_MAX));
}

#[test]
fn quick_loads_take_nothing_of_it() {
    let gate = LoadGate::default();
    let mut state = gate.lock();
    (0..1_000).for_each(|_| state.note_wait(WAIT_MIN));
    assert_eq!(state.patience, SLOW_TIME_MAX);
}

#[test]
fn a_load_without_end_is_left_behind_and_told_later() {
    let gate = Arc::new(LoadGate::default());
    let (open, opened) = channel::<()>();
    let (tell, told) = channel();
    let slow = gate.load(move || opened.recv().map_err(|_| "broken").map(drop), move |fault| tell.send(*fault).unwrap());
    assert_eq!(slow.unwrap(), None);
    // The waiting is quick even without patience: a result that is there is seen.
    gate.lock().note_wait(Duration::from_secs(60));
    drop(open);
    assert_eq!(told.recv().unwrap(), "broken");
}

#[test]
fn who_waits_for_all_gets_every_verdict() {
    let gate = Arc::new(LoadGate::default());
    gate.wait_for_all();
    gate.lock().patience = Duration::ZERO;
    let loaded = gate.load(|| Err("no"), |_| panic!("somebody waits"));
    assert_eq!(loaded.unwrap(), Some(Err("no")));
}

#[test]
fn no_more_than_the_places_load_at_one_time() {
    let gate = Arc::new(LoadGate::default());
    gate.lock().patience = Duration::ZERO;
    let (tell, told) = channel();
    let opens: Vec<_> = (0..LOADING_MAX + 3)
        .map(|_| {
            let (open, opened) = channel::<()>();
            let tell = tell.clone();
            let begun = gate.load(
                move || {
                    let _ = (tell.send(()), opened.recv());
                    Ok::<(), ()>(())
                },
                |()| {},
            );
            assert!(begun.is_ok());
            open
        })
        .collect();
    (0..LOADING_MAX).for_each(|_| told.recv().unwrap());
    assert!(told.try_recv().is_err());
    drop(opens);
    (0..3).for_each(|_| told.recv().unwrap());
}
