//! Claims of a token whose signature is valid.

use serde_json::Value;
use tollgate_model::members::Members;

/// The claims of one token.
#[derive(Clone, Debug)]
pub struct Claims(pub Members);

/// Which times are checked, and the clock skew in seconds that each check allows.
#[derive(Clone, Copy, Debug)]
pub struct TimeChecks {
    /// Skew for `exp`; `None` when `exp` is not checked.
    pub expires_skew: Option<u64>,
    /// Skew for `iat`; `None` when `iat` is not checked.
    pub issued_skew: Option<u64>,
    /// Skew for `nbf`; `None` when `nbf` is not checked.
    pub not_before_skew: Option<u64>,
}

/// Why a token is not valid at a given time. When several reasons apply, the last one is reported, as in Tyk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeFault {
    Expired,
    BeforeIssued,
    NotYet,
}

/// The period in which a token is valid, in Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    pub from: u64,
    pub until: u64,
}

impl Validity {
    pub fn contains(self, unix_s: u64) -> bool {
        (self.from..self.until).contains(&unix_s)
    }
}

/// The time in a claim.
enum ClaimTime {
    Missing,
    At(f64),
    /// Not a number: the token is never valid.
    Wrong,
}

impl Claims {
    /// A claim that is a non-empty text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.called(name).filter_map(Value::as_str).find(|text| !text.is_empty())
    }

    /// The claim with this name. If the name contains dots, also the nested value that the dots lead to.
    pub fn called<'c>(&'c self, name: &str) -> impl Iterator<Item = &'c Value> + use<'c> {
        let mut steps = name.split('.');
        let first = steps.next().and_then(|step| self.0.get(step));
        let within = name.contains('.').then(|| steps.fold(first, |value, step| value?.get(step)));
        self.0.get(name).into_iter().chain(within.flatten())
    }

    /// The token's validity period, if it is valid now.
    pub fn validity(&self, unix_s: u64, checks: &TimeChecks) -> Result<Validity, TimeFault> {
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

    /// Expiry time of the token, even when `exp` is not checked.
    pub fn expires_unix_s(&self) -> Option<i64> {
        match self.time("exp") {
            ClaimTime::At(time) => Some(time as i64),
            ClaimTime::Missing | ClaimTime::Wrong => None,
        }
    }

    /// Zero counts as missing, as in Tyk.
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

    /// The user of the token: the first of the claims that the definition names, else `sub`. `Err` is the message for the client.
    pub fn identity(&self, base_fields: &[String]) -> Result<&str, String> {
        for base_field in base_fields {
            if let Some(text) = self.text(base_field) {
                return Ok(text);
            }
            if self.called(base_field).any(|value| value == "") {
                return Err(format!("found an empty user ID in predefined base claim, claim: {base_field}"));
            }
        }
        match self.0.get("sub") {
            Some(Value::String(text)) if text.is_empty() => Err("found an empty user ID in sub claim".to_owned()),
            Some(Value::String(text)) => Ok(text),
            _ => Err("no suitable claims for user ID were found".to_owned()),
        }
    }

    /// The scopes in a claim: the words of a text, or the texts of a list and of the lists in it. As in Tyk, an empty text is one scope,
    /// which stands for nothing: a token that says it has no scopes gets no default policy. Dots in the name lead into objects; only
    /// without such a value, the name itself may contain dots.
    pub fn scopes(&self, name: &str) -> Vec<&str> {
        let mut scopes = Vec::new();
        match self.called(name).last() {
            Some(Value::String(text)) => scopes.extend(text.split(' ')),
            Some(Value::Array(items)) => add_texts(items, &mut scopes),
            _ => {}
        }
        scopes
    }
}

fn add_texts<'c>(items: &'c [Value], texts: &mut Vec<&'c str>) {
    for item in items {
        match item {
            Value::String(text) => texts.push(text),
            Value::Array(items) => add_texts(items, texts),
            _ => {}
        }
    }
}
