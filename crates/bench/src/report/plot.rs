//! Line plots as inline SVG. A plot is drawn in a box of 460 by 300, so that its text stays readable when a phone shrinks it.

use super::escape::escape;
use super::format::{latency, thousands};
use std::fmt::Write;

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 58.0;
/// Space for half of the last label.
const RIGHT: f64 = 28.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 42.0;

/// Lines over two axes.
pub(crate) struct Plot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<PlotLine>,
}

/// An axis.
pub(crate) struct Axis {
    pub label: String,
    pub scale: Scale,
    pub unit: Unit,
}

/// Scale of an axis.
#[derive(Clone, PartialEq)]
pub(crate) enum Scale {
    /// Linear, from zero.
    Linear,
    Log,
    /// Per cent, with equal distance for each further nine.
    Nines,
    /// Points at 0, 1, 2, …, with names.
    Names(Vec<String>),
}

/// Format of values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Latency,
    Number,
    Percent,
}

/// A line; its CSS class defines its colour.
pub(crate) struct PlotLine {
    pub class: String,
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Range of values on an axis.
struct Range {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Plot {
    /// The SVG; empty if there is nothing to draw.
    pub(crate) fn svg(&self) -> String {
        let xs = || self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
        let ys = || self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
        let (Some(x), Some(y)) = (Range::of(&self.x.scale, xs()), Range::of(&self.y.scale, ys())) else { return String::new() };
        let at = |(px, py): (f64, f64)| {
            (LEFT + x.share(px) * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y.share(py) * (HEIGHT - TOP - BOTTOM))
        };
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\" xmlns=\"http://www.w3.org/2000/svg\">\n",
            escape(&self.title)
        );
        // Writing into a String cannot fail.
        let bottom = HEIGHT - BOTTOM;
        for tick in y.ticks() {
            let height = at((x.low, tick)).1;
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{height:.1}\" y2=\"{height:.1}\"/>",
                WIDTH - RIGHT
            );
            let _ = writeln!(
                svg,
                "<text class=\"tick\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                LEFT - 6.0,
                height + 4.0,
                escape(&self.y.written(tick))
            );
        }
        for tick in x.ticks() {
            let across = at((tick, y.low)).0;
            let _ = write!(
                svg,
                "<line class=\"mark\" x1=\"{across:.1}\" x2=\"{across:.1}\" y1=\"{bottom:.1}\" y2=\"{:.1}\"/>",
                bottom + 4.0
            );
            let _ = writeln!(
                svg,
                "<text class=\"tick\" text-anchor=\"middle\" x=\"{across:.1}\" y=\"{:.1}\">{}</text>",
                bottom + 16.0,
                escape(&self.x.written(tick))
            );
        }
        let _ = writeln!(svg, "<text class=\"label\" x=\"4\" y=\"12\">{}</text>", escape(&self.y.label));
        let _ = writeln!(
            svg,
            "<text class=\"label\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            WIDTH - RIGHT,
            HEIGHT - 6.0,
            escape(&self.x.label)
        );
        for line in &self.lines {
            let points: Vec<(f64, f64)> = line.points.iter().copied().map(at).collect();
            let path: Vec<String> = points.iter().map(|(px, py)| format!("{px:.1},{py:.1}")).collect();
            let _ = writeln!(
                svg,
                "<polyline class=\"line {}\" points=\"{}\"><title>{}</title></polyline>",
                line.class,
                path.join(" "),
                escape(&line.name)
            );
            if points.len() <= 12 {
                for ((px, py), value) in points.iter().zip(&line.points) {
                    let _ = writeln!(
                        svg,
                        "<circle class=\"dot {}\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3.2\"><title>{}: {}</title></circle>",
                        line.class,
                        escape(&line.name),
                        escape(&self.y.written(value.1))
                    );
                }
            }
        }
        svg + "</svg>\n"
    }
}

impl Axis {
    fn written(&self, value: f64) -> String {
        if let Scale::Names(names) = &self.scale {
            return names.get(value as usize).cloned().unwrap_or_default();
        }
        match self.unit {
            Unit::Latency => latency(value),
            Unit::Percent => format!("{} %", trimmed(value)),
            Unit::Number if value.abs() < 100.0 => trimmed(value),
            Unit::Number => thousands(value),
        }
    }
}

/// Without trailing zeros: `99.9`, `50`.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Range {
    fn of(scale: &Scale, values: impl Iterator<Item = f64>) -> Option<Range> {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let high = values.iter().copied().reduce(f64::max)?;
        let low = values.iter().copied().reduce(f64::min)?;
        let (low, high) = match scale {
            Scale::Linear => (low.min(0.0), if high > 0.0 { high * 1.08 } else { 1.0 }),
            Scale::Log => (low.max(1e-3) * 0.8, high.max(1e-3) * 1.25),
            Scale::Nines => (0.0, high.max(90.0)),
            Scale::Names(names) => (0.0, (names.len().max(2) - 1) as f64),
        };
        Some(Range { scale: scale.clone(), low, high })
    }

    /// Position on the axis: 0 at its start, 1 at its end.
    fn share(&self, value: f64) -> f64 {
        let place = |value: f64| match self.scale {
            Scale::Linear | Scale::Names(_) => value,
            Scale::Log => value.max(1e-3).log10(),
            Scale::Nines => -(1.0 - value.min(99.9999) / 100.0).log10(),
        };
        let (low, high) = (place(self.low), place(self.high));
        if high > low { ((place(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }

    fn ticks(&self) -> Vec<f64> {
        match &self.scale {
            Scale::Names(names) => (0..names.len()).map(|index| index as f64).collect(),
            Scale::Nines => [50.0, 90.0, 99.0, 99.9, 99.99].into_iter().filter(|tick| *tick <= self.high + 1e-9).collect(),
            Scale::Linear => {
                let step = nice_step((self.high - self.low) / 5.0);
                let first = (self.low / step).ceil() as i64;
                (first..).map(|index| index as f64 * step).take_while(|tick| *tick <= self.high).take(12).collect()
            }
            Scale::Log => {
                let decades = (self.high / self.low).log10();
                let steps: &[f64] = if decades > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
                let all = powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
                all.filter(|tick| (self.low..=self.high).contains(tick)).collect()
            }
        }
    }
}

/// 1, 2 or 5 times a power of ten, not below `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= rough).unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests;
