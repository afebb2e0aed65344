//! What a month costs: so far, and if it goes on as in the last seven days.

use super::SpendMonth;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use tollgate_model::calendar::date_time;
use tollgate_store::spend::{SpendBy, SpendQuestion, SpendRow};

const DAY_S: i64 = 86_400;
const DAY: i64 = 24 * 60;
/// Days by which the rest of the month is told.
const MEASURE: i64 = 7;

/// The days that are needed: of the month in which the period of a question ends, and those before it that are a measure.
pub(super) fn question(of: &SpendQuestion) -> SpendQuestion {
    let (from, to) = month(of.to * 60 - 1);
    let from = from.min(of.to * 60 - (MEASURE + 1) * DAY_S);
    let (from, to) = (from.div_euclid(DAY_S) * DAY, to.div_euclid(60));
    SpendQuestion { from, to, by: SpendBy::Time(24 * 60), split: None, rows_max: usize::MAX, ..of.clone() }
}

/// The month in which a minute ends, from sums by day.
pub(super) fn of(end_minute: i64, now_unix_s: u64, days: &[SpendRow]) -> SpendMonth {
    let (from, to) = month(end_minute * 60 - 1);
    let now = i64::try_from(now_unix_s).unwrap_or(i64::MAX).clamp(from, to);
    let days: Vec<(i64, f64)> =
        days.iter().filter_map(|row| Some((row.value.parse::<i64>().ok()? * 60, row.counts.cost_micro_usd as f64 / 1e6))).collect();
    // The sum of no numbers is -0.
    let cost_usd = days.iter().filter(|(day, _)| (from..to).contains(day)).map(|(_, cost)| cost).sum::<f64>() + 0.0;
    // Whole days before today, and today as far as it has come.
    let since = (now.div_euclid(DAY_S) - MEASURE) * DAY_S;
    let measured = days.iter().filter(|(day, _)| (since..=now).contains(day));
    let first = measured.clone().map(|(day, _)| *day).min().unwrap_or(now);
    let spent = measured.map(|(_, cost)| cost).sum::<f64>() + 0.0;
    let per_second = spent / (now - first).max(DAY_S / 24) as f64;
    SpendMonth { from, to, cost_usd, forecast_usd: cost_usd + per_second * (to - now) as f64 }
}

/// First second of the month of a second, and of the next month.
fn month(unix_s: i64) -> (i64, i64) {
    let date = date_time(unix_s, 0).date();
    let first = date.first_of_month();
    let start = |date: Date| {
        let time = Offset::UTC.to_timestamp(date.to_datetime(Time::midnight()));
        time.map_or(unix_s, |time| time.as_second())
    };
    let next = date.last_of_month().tomorrow().unwrap_or(date);
    (start(first), start(next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_store::spend::SpendCounts;

    fn day(unix_s: i64, usd: u64) -> SpendRow {
        let counts = SpendCounts { cost_micro_usd: usd * 1_000_000, ..SpendCounts::default() };
        SpendRow { value: (unix_s / 60).to_string(), split: None, counts }
    }

    #[test]
    fn a_month_goes_on_as_in_its_last_seven_days() {
        // 2026-04-16 00:00 UTC: half of April.
        let now = 1_776_297_600;
        let (from, to) = month(now);
        assert_eq!((now - from, to - now), (15 * DAY_S, 15 * DAY_S));
        // Ten dollars a day in the last week, and a hundred on the first day of the month; March is none of it.
        let week = (1..=7).map(|back| day(now - back * DAY_S, 10));
        let days: Vec<_> = week.chain([day(from, 100), day(from - DAY_S, 1_000)]).collect();
        let month = of(now / 60, now as u64, &days);
        assert_eq!((month.from, month.to), (from, to));
        assert!((month.cost_usd - 170.0).abs() < 0.01, "{}", month.cost_usd);
        assert!((month.forecast_usd - 320.0).abs() < 0.1, "{}", month.forecast_usd);
    }

    #[test]
    fn a_month_without_anything_costs_nothing() {
        let month = of(29_604_960, 1_776_297_600, &[]);
        assert_eq!(format!("{} {}", month.cost_usd, month.forecast_usd), "0 0");
    }
}
