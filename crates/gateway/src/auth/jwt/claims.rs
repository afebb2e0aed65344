//! The claims of a token whose signature is good.

use serde_json::Value;
use tollgate_model::members::Members;

/// The claims.
#[derive(Clone, Debug)]
pub(crate) struct Claims(pub Members);

/// Which times are looked at, and by how many seconds clocks may differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeChecks {
    /// `None`: `exp` is not looked at.
    pub expires_skew: Option<u64>,
    /// `None`: `iat` is not looked at.
    pub issued_skew: Option<u64>,
    /// `None`: `nbf` is not looked at.
    pub not_before_skew: Option<u64>,
}

/// Why a token can't be used at a moment. When several are true the last counts, as in Tyk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeFault {
    Expired,
    BeforeIssued,
    NotYet,
}

/// The seconds since 1970 within which a token can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    pub from: u64,
    pub until: u64,
}

impl Validity {
    pub(crate) fn contains(self, unix_s: u64) -> bool {
        (self.from..self.until).contains(&unix_s)
    }
}

/// A time as a claim says it.
enum ClaimTime {
    Missing,
    At(f64),
    /// Not a number: never right.
    Wrong,
}

impl Claims {
    /// A claim that is a text and not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.called(name).filter_map(Value::as_str).find(|text| !text.is_empty())
    }

    /// The claim of a name; and if the name has dots, what they lead to within objects.
    pub(crate) fn called<'c>(&'c self, name: &str) -> impl Iterator<Item = &'c Value> + use<'c> {
        let mut steps = name.split('.');
        let first = steps.next().and_then(|step| self.0.get(step));
        let within = name.contains('.').then(|| steps.fold(first, |value, step| value?.get(step)));
        self.0.get(name).into_iter().chain(within.flatten())
    }

    /// When the token can be used, if that is now.
    pub(crate) fn validity(&self, unix_s: u64, checks: &TimeChecks) -> Result<Validity, TimeFault> {
        let now = unix_s as f64;
        let until = match checks.expires_skew.map(|skew| (self.time("exp"), skew)) {
            None | Some((ClaimTime::Missing, _)) => u64::MAX,
            Some((ClaimTime::Wrong, _)) => 0,
            Some((ClaimTime::At(time), skew)) => (time + skew as f64).ceil().max(0.0) as u64,
        };
        let start = |name: &str, skew: Option<u64>| match skew.map(|skew| (self.time(name), skew)) {
            None | Some((ClaimTime::Missing, _)) => Some(0),
            Some((ClaimTime::Wrong, _)) => None,
            Some((ClaimTime::At(time), skew)) => Some((time - skew as f64).ceil().max(0.0) as u64),
        };
        let issued = start("iat", checks.issued_skew);
        let begins = start("nbf", checks.not_before_skew);
        let is_past = |start: Option<u64>| start.is_some_and(|start| start as f64 <= now);
        if !is_past(begins) {
            Err(TimeFault::NotYet)
        } else if !is_past(issued) {
            Err(TimeFault::BeforeIssued)
        } else if unix_s >= until {
            Err(TimeFault::Expired)
        } else {
            Ok(Validity { from: issued.max(begins).unwrap_or_default(), until })
        }
    }

    /// When the token expires, whether that is looked at or not.
    pub(crate) fn expires_unix_s(&self) -> Option<i64> {
        match self.time("exp") {
            ClaimTime::At(time) => Some(time as i64),
            ClaimTime::Missing | ClaimTime::Wrong => None,
        }
    }

    /// Zero is the same as nothing, as in Tyk.
    fn time(&self, name: &str) -> ClaimTime {
        match self.0.get(name) {
            None => ClaimTime::Missing,
            Some(value) => match value.as_f64() {
                Some(0.0) => ClaimTime::Missing,
                Some(time) => ClaimTime::At(time),
                None => ClaimTime::Wrong,
            },
        }
    }

    /// Who the token is for: the claim that the definition names, else `sub`. `Err` is what the client is told.
    pub(crate) fn identity(&self, base_field: &str) -> Result<&str, String> {
        if !base_field.is_empty() {
            if let Some(text) = self.text(base_field) {
                return Ok(text);
            }
            if self.called(base_field).any(|value| value == "") {
                return Err(format!("found an empty user ID in predefined base field claim {base_field}"));
            }
        }
        match self.0.get("sub") {
            Some(Value::String(text)) if text.is_empty() => Err("found an empty user ID in sub claim".to_owned()),
            Some(Value::String(text)) => Ok(text),
            _ => Err("no suitable claims for user ID were found".to_owned()),
        }
    }

    /// The scopes in a claim: words of a text, or texts of a list. Dots in the name lead into objects.
    pub(crate) fn scopes(&self, name: &str) -> Vec<&str> {
        match self.called(name).next() {
            Some(Value::String(text)) => text.split(' ').filter(|scope| !scope.is_empty()).collect(),
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }
}
