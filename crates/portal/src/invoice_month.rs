//! Months, in UTC.

use std::fmt;
use tollgate_model::calendar;

pub(crate) const DAY_S: u64 = 24 * 3600;

/// A month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InvoiceMonth {
    year: u16,
    /// 1 to 12.
    month: u8,
}

impl InvoiceMonth {
    /// The month of a time.
    pub(crate) fn of(unix_s: u64) -> Self {
        let date = calendar::date_time(i64::try_from(unix_s).unwrap_or(i64::MAX), 0);
        InvoiceMonth { year: date.year().try_into().unwrap_or_default(), month: date.month().try_into().unwrap_or(1) }
    }

    /// That of a text such as `2026-11`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let start = calendar::parse(&format!("{text}-01"))?;
        Some(InvoiceMonth::of(u64::try_from(start).ok()?)).filter(|month| month.to_string() == text)
    }

    pub(crate) fn before(self) -> Self {
        match self.month {
            1 => InvoiceMonth { year: self.year.saturating_sub(1), month: 12 },
            month => InvoiceMonth { month: month - 1, ..self },
        }
    }

    pub(crate) fn after(self) -> Self {
        match self.month {
            12 => InvoiceMonth { year: self.year + 1, month: 1 },
            month => InvoiceMonth { month: month + 1, ..self },
        }
    }

    /// When it begins.
    pub(crate) fn start_unix_s(self) -> u64 {
        calendar::parse(&format!("{self}-01")).and_then(|start| start.try_into().ok()).unwrap_or_default()
    }

    /// Day of a time in it, from 1 on.
    pub(crate) fn day_of(self, unix_s: u64) -> u8 {
        u8::try_from(unix_s.saturating_sub(self.start_unix_s()) / DAY_S + 1).unwrap_or(u8::MAX)
    }
}

impl fmt::Display for InvoiceMonth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}-{:02}", self.year, self.month)
    }
}

#[cfg(test)]
mod tests {
    use super::InvoiceMonth;

    #[test]
    fn months_follow_each_other() {
        let december = InvoiceMonth::parse("2027-12").unwrap();
        assert_eq!([december.before(), december.after()].map(|month| month.to_string()), ["2027-11", "2028-01"]);
        assert_eq!(december.after().before(), december);
        let february = InvoiceMonth::parse("2028-02").unwrap();
        assert_eq!(february.day_of(february.after().start_unix_s() - 1), 29);
        assert_eq!(
            [0, 1].map(|more| InvoiceMonth::of(february.after().start_unix_s() - 1 + more).to_string()),
            ["2028-02", "2028-03"]
        );
    }

    #[test]
    fn other_texts_are_no_months() {
        for text in ["", "2026", "2026-13", "2026-00", "2026-1", "26-11", "2026-11-01", "1969-12", "+002026-11", "2026-11/.."] {
            assert_eq!(InvoiceMonth::parse(text), None, "{text}");
        }
    }
}
