use super::{Axis, Plot, PlotLine, Range, Scale, Unit};

fn axis(scale: Scale, unit: Unit) -> Axis {
    Axis { label: "a < b".to_owned(), scale, unit }
}

#[test]
fn a_plot_without_points_is_nothing() {
    let plot =
        Plot { title: String::new(), x: axis(Scale::Linear, Unit::Number), y: axis(Scale::Log, Unit::Latency), lines: Vec::new() };
    assert_eq!(plot.svg(), "");
}

#[test]
fn each_nine_is_as_far_as_the_one_before() {
    let range = Range::of(&Scale::Nines, [0.0, 99.9].into_iter()).expect("a range");
    for (percent, expected) in [(0.0, 0.0), (90.0, 1.0 / 3.0), (99.0, 2.0 / 3.0), (99.9, 1.0)] {
        assert!((range.share(percent) - expected).abs() < 1e-9, "{percent}: {}", range.share(percent));
    }
    assert_eq!(range.ticks(), [50.0, 90.0, 99.0, 99.9]);
}

#[test]
fn ticks_are_round_numbers() {
    let linear = Range::of(&Scale::Linear, [3.0, 47.0].into_iter()).expect("a range");
    assert_eq!(linear.ticks(), [0.0, 20.0, 40.0]);
    let log = Range::of(&Scale::Log, [130.0, 900.0].into_iter()).expect("a range");
    assert_eq!(log.ticks(), [200.0, 500.0, 1000.0]);
    let wide = Range::of(&Scale::Log, [1.0, 900_000.0].into_iter()).expect("a range");
    assert_eq!(wide.ticks(), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
}

#[test]
fn names_are_escaped_and_points_marked() {
    let line = PlotLine { class: "g-x".to_owned(), name: "<x>".to_owned(), points: vec![(0.0, 1.0), (1.0, 2.0)] };
    let x = axis(Scale::Names(vec!["one".to_owned(), "two".to_owned()]), Unit::Number);
    let svg = Plot { title: "T & U".to_owned(), x, y: axis(Scale::Linear, Unit::Number), lines: vec![line] }.svg();
    assert!(svg.contains("aria-label=\"T &amp; U\"") && svg.contains("a &lt; b") && svg.contains("&lt;x&gt;"), "{svg}");
    assert_eq!(svg.matches("<circle").count(), 2);
    assert!(svg.contains(">one<") && svg.contains(">two<"));
}
