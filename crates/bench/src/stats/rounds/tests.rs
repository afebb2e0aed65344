use super::{median, ratio, spread};

#[test]
fn a_median_is_the_middle_or_the_mean_of_the_two_middle_ones() {
    for (values, expected) in [
        (&[][..], None),
        (&[3.0], Some(3.0)),
        (&[3.0, 1.0, 2.0], Some(2.0)),
        (&[4.0, 1.0, 3.0, 2.0], Some(2.5)),
        (&[1.0, f64::NAN, 2.0, 3.0], Some(2.0)),
    ] {
        assert_eq!(median(values), expected, "{values:?}");
    }
}

#[test]
fn a_spread_names_the_lowest_and_the_highest() {
    let spread = spread(&[5.0, 1.0, 9.0]).expect("a spread");
    assert_eq!((spread.median, spread.low, spread.high), (5.0, 1.0, 9.0));
}

#[test]
fn ratios_are_made_within_rounds_so_a_slow_round_cancels() {
    let ratio = ratio(&[10.0, 100.0, 20.0], &[20.0, 200.0, 40.0]).expect("a ratio");
    assert_eq!((ratio.median, ratio.low, ratio.high), (0.5, 0.5, 0.5));
}

#[test]
fn the_interval_of_a_noisy_ratio_holds_its_median_and_stays_within_the_rounds() {
    let ours = [0.8, 0.9, 1.0, 1.1, 1.2, 0.95, 1.05];
    let ratio = ratio(&ours, &[1.0; 7]).expect("a ratio");
    assert_eq!(ratio.median, 1.0);
    assert!((0.8..1.0).contains(&ratio.low), "{ratio:?}");
    assert!(ratio.high > 1.0 && ratio.high <= 1.2, "{ratio:?}");
}

#[test]
fn rounds_without_a_result_are_no_ratio() {
    assert_eq!(ratio(&[1.0], &[0.0]), None);
    assert_eq!(ratio(&[], &[]), None);
}
