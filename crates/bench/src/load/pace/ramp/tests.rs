use super::Ramp;

fn begins_and_ends(ramp: &str, workers: &[usize]) -> Vec<(u64, Option<u64>)> {
    let ramp: Ramp = ramp.parse().unwrap();
    let ms = |ns: u64| ns / 1_000_000;
    workers.iter().map(|worker| (ms(ramp.begins_ns(*worker)), ramp.ends_ns(*worker).map(ms))).collect()
}

#[test]
fn workers_join_evenly_until_the_end_of_the_rush() {
    let expect = [(60, None), (60_000, None), (120_000, None)];
    assert_eq!(begins_and_ends("0:2000:120s", &[0, 999, 1999]), expect);
    assert_eq!(begins_and_ends("10:20:10s", &[0, 9, 10, 19]), [(0, None), (0, None), (1000, None), (10_000, None)]);
}

#[test]
fn workers_leave_from_the_highest_number_down() {
    assert_eq!(begins_and_ends("20:10:10s", &[19, 10, 9]), [(0, Some(1000)), (0, Some(10_000)), (0, None)]);
}

#[test]
fn what_is_no_ramp_is_refused() {
    for text in ["", "5", "0:10", "0:10:5", "a:b:1s", "5:5:1s", "0:10:0s"] {
        assert!(text.parse::<Ramp>().is_err(), "{text}");
    }
}
