//! Go's `time.Time`: a moment and the place in which its date is shown. Layouts are in `layout`.

mod layout;
mod parse;

pub(crate) use parse::parse;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::rc::Rc;

const S_PER_DAY: i64 = 86_400;
const NS_PER_S: i128 = 1_000_000_000;
/// Midnight of 1 January of the year 1: Go's zero time.
const ZERO_UNIX_S: i64 = -62_135_596_800;

pub(crate) const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
pub(crate) const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Go's layout for `%v`.
const PLAIN: &str = "2006-01-02 15:04:05.999999999 -0700 MST";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GoTime {
    pub unix_s: i64,
    pub ns: u32,
    pub place: Place,
}

/// What Go calls a location.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    Utc,
    Zone(TimeZone),
    /// An offset that was read with a time, in seconds; the name may be empty.
    Fixed {
        name: Rc<str>,
        offset_s: i64,
    },
}

/// A date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CivilTime {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
}

impl Place {
    /// The name of the zone and its offset in seconds at a time.
    pub(crate) fn at(&self, unix_s: i64) -> (Rc<str>, i64) {
        match self {
            Place::Utc => ("UTC".into(), 0),
            Place::Zone(zone) => {
                let info = zone.to_offset_info(timestamp(unix_s));
                (info.abbreviation().into(), i64::from(info.offset().seconds()))
            }
            Place::Fixed { name, offset_s } => (name.clone(), *offset_s),
        }
    }

    /// The offset of the zone with a name, such as `CET`, if the place has one around this time.
    fn offset_named(&self, name: &str, unix_s: i64) -> Option<i64> {
        let now = self.at(unix_s);
        let others = match self {
            Place::Zone(zone) => {
                let at = timestamp(unix_s);
                let before =
                    zone.preceding(at).nth(1).map(|change| (change.abbreviation().into(), i64::from(change.offset().seconds())));
                let after =
                    zone.following(at).next().map(|change| (change.abbreviation().into(), i64::from(change.offset().seconds())));
                [before, after]
            }
            Place::Utc | Place::Fixed { .. } => [None, None],
        };
        let mut known = [Some(now)].into_iter().chain(others).flatten();
        known.find(|(known, _): &(Rc<str>, i64)| **known == *name).map(|(_, offset)| offset)
    }
}

/// The nearest time that the time zone database covers.
fn timestamp(unix_s: i64) -> Timestamp {
    let seconds = unix_s.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

impl CivilTime {
    /// Seconds since 1970 as if the place were UTC. Members may be out of their range, as for Go's `time.Date`.
    fn unix_s(self) -> i64 {
        let months = self.year.saturating_mul(12).saturating_add(self.month.saturating_sub(1));
        let days = days_before(months.div_euclid(12), months.rem_euclid(12) + 1).saturating_add(self.day.saturating_sub(1));
        days.saturating_mul(S_PER_DAY)
            .saturating_add(self.hour.saturating_mul(3600))
            .saturating_add(self.minute.saturating_mul(60))
            .saturating_add(self.second)
    }
}

/// Days from 1 January 1970 to the first day of a month. Years are counted from March, so that the leap day is the last one.
fn days_before(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year.saturating_sub(1) } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5;
    let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    era.saturating_mul(146_097).saturating_add(day_of_era - 719_468)
}

fn days_in(year: i64, month: i64) -> i64 {
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_before(next_year, next_month) - days_before(year, month)
}

impl GoTime {
    pub(crate) fn zero() -> Self {
        GoTime { unix_s: ZERO_UNIX_S, ns: 0, place: Place::Utc }
    }

    pub(crate) fn of_unix_ns(ns: i128, place: Place) -> Self {
        let unix_s = i64::try_from(ns.div_euclid(NS_PER_S)).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX });
        GoTime { unix_s, ns: u32::try_from(ns.rem_euclid(NS_PER_S)).unwrap_or(0), place }
    }

    /// The moment of a date in a place. In the hour that a change of the clock skips or repeats, Go's choice.
    pub(crate) fn of_civil(civil: CivilTime, ns: u32, place: Place) -> Self {
        let local = civil.unix_s();
        let (_, first) = place.at(local);
        let offset = if first == 0 { 0 } else { place.at(local.saturating_sub(first)).1 };
        GoTime { unix_s: local.saturating_sub(offset), ns, place }
    }

    pub(crate) fn is_zero(&self) -> bool {
        (self.unix_s, self.ns) == (ZERO_UNIX_S, 0)
    }

    pub(crate) fn unix_ns(&self) -> i128 {
        i128::from(self.unix_s) * NS_PER_S + i128::from(self.ns)
    }

    pub(crate) fn within(&self, place: Place) -> Self {
        GoTime { place, ..self.clone() }
    }

    pub(crate) fn plus(&self, ns: i64) -> Self {
        GoTime::of_unix_ns(self.unix_ns() + i128::from(ns), self.place.clone())
    }

    /// The time from another moment to this one, at most what a duration holds.
    pub(crate) fn since(&self, earlier: i128) -> i64 {
        let ns = self.unix_ns() - earlier;
        i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
    }

    fn local_s(&self) -> i64 {
        self.unix_s.saturating_add(self.place.at(self.unix_s).1)
    }

    pub(crate) fn civil(&self) -> CivilTime {
        let local = self.local_s();
        let (days, of_day) = (local.div_euclid(S_PER_DAY), local.rem_euclid(S_PER_DAY));
        // The inverse of `days_before`.
        let shifted = days + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        CivilTime {
            year: era * 400 + year_of_era + i64::from(month <= 2),
            month,
            day: of_year - (153 * from_march + 2) / 5 + 1,
            hour: of_day / 3600,
            minute: of_day % 3600 / 60,
            second: of_day % 60,
        }
    }

    /// 0 for Sunday.
    pub(crate) fn weekday(&self) -> i64 {
        // 1 January 1970 was a Thursday.
        (self.local_s().div_euclid(S_PER_DAY) + 4).rem_euclid(7)
    }

    /// From 1.
    pub(crate) fn year_day(&self) -> i64 {
        self.local_s().div_euclid(S_PER_DAY) - days_before(self.civil().year, 1) + 1
    }

    /// The time as a text in Go's layout.
    pub(crate) fn format(&self, layout: &str) -> String {
        layout::format(self, layout)
    }

    /// The text of `%v`. Go also prints the monotonic clock of a time from `now`, ` m=+0.1`.
    pub(crate) fn text(&self) -> String {
        self.format(PLAIN)
    }
}
