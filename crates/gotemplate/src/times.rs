//! Tyk's functions for times in the bodies of webhooks. A time is the text that Go prints for it: `2026-01-02 03:04:05.6 +0000 UTC`.

use crate::arguments::{Function, call, text};
use crate::value::Value;

pub(crate) static FUNCTIONS: &[Function] = &[
    call("as_rfc3339", 1, 1, |arguments| {
        let time = text(arguments, 0)?;
        rfc3339(time).map(Value::from).ok_or_else(|| format!("{time:?} is not a time"))
    }),
    // As in Tyk, another text stays as it is.
    call("as_rfc3339_from_string", 1, 1, |arguments| {
        let time = text(arguments, 0)?;
        Ok(rfc3339(time).unwrap_or_else(|| time.to_owned()).into())
    }),
];

/// The time in RFC 3339, without the fraction of its second.
fn rfc3339(time: &str) -> Option<String> {
    let mut parts = time.split(' ');
    let (date, clock, offset) = (parts.next()?, parts.next()?, parts.next()?);
    let whole = clock.split('.').next().unwrap_or(clock);
    let fits = |text: &str, form: &str| {
        text.len() == form.len()
            && text.chars().zip(form.chars()).all(|(own, form)| if form == '0' { own.is_ascii_digit() } else { own == form })
    };
    let (hours, minutes) = offset.split_at_checked(3)?;
    let is_offset = offset.starts_with(['+', '-']) && fits(hours.get(1..)?, "00") && fits(minutes, "00");
    if !fits(date, "0000-00-00") || !fits(whole, "00:00:00") || !is_offset {
        return None;
    }
    let zone = if (hours, minutes) == ("+00", "00") { "Z".to_owned() } else { format!("{hours}:{minutes}") };
    Some(format!("{date}T{whole}{zone}"))
}

#[cfg(test)]
mod tests;
