//! What `top` shows besides the difference between two samples: the past hour, the most frequent values of a field, the last refusals, the targets of
//! upstreams with rules.

use super::TopAsked;
use super::client::TopClient;
use serde_json::{Value, json};

/// Rows of each list.
const ROWS: usize = 10;
/// Characters of a line of the past hour.
const HOUR_STEPS: usize = 60;
/// Signs for rates from none to the highest.
const BARS: [char; 9] = [' ', '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];

/// The answers of the endpoints; null from a gateway that has none.
#[derive(Default)]
pub(super) struct MoreAnswers {
    history: Value,
    frequent: Value,
    tail: Value,
}

/// What is shown of them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct More {
    /// Requests per second in each of the last sixty minutes; `None` is a gap.
    pub hour: Vec<Option<f64>>,
    /// The most frequent values of a field and their requests.
    pub frequent: FrequentValues,
    /// The newest first.
    pub refused: Vec<Refused>,
    /// Gateways that did not answer.
    pub missing: Vec<String>,
}

/// The most frequent values of a field.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FrequentValues {
    pub by: String,
    pub window_s: u64,
    pub rows: Vec<(String, u64)>,
}

/// A request that was refused or that an upstream failed, and why.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Refused {
    pub unix_ms: u64,
    pub node: String,
    pub api: String,
    pub status: u64,
    pub cause: String,
    /// Alias of the key, else its hash.
    pub caller: String,
    /// What was exceeded, such as `120 per 60 s`.
    pub limit: String,
}

/// A target of an API with rules for its upstreams.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TargetView {
    pub api: String,
    pub url: String,
    pub state: String,
    pub requests_per_s: f64,
    pub faults_per_s: f64,
    pub in_flight: u64,
    pub latency_ms: f64,
}

impl MoreAnswers {
    /// Asks; what a gateway does not have is left out.
    pub(super) fn take(client: &TopClient, asked: TopAsked) -> Self {
        let TopAsked { nodes, by, window_s } = asked;
        let get = |path: String| client.get(&path).ok().flatten().unwrap_or_default();
        MoreAnswers {
            history: get(format!("/tyk/history?apis=0&step=60{nodes}")),
            frequent: get(format!("/tyk/top?by={}&window={window_s}&k={ROWS}{nodes}", by.name())),
            tail: get(format!("/tyk/tail?limit={ROWS}{nodes}")),
        }
    }
}

impl More {
    pub(super) fn new(answers: &MoreAnswers) -> Self {
        let step_s = answers.history.get("step_s").and_then(Value::as_f64).unwrap_or(60.0).max(1.0);
        let requests = rows(&answers.history, "/totals/requests");
        let hour: Vec<Option<f64>> = requests.map(|count| count.as_f64().map(|count| count / step_s)).collect();
        let mut missing: Vec<String> = [&answers.history, &answers.frequent, &answers.tail]
            .into_iter()
            .flat_map(|answer| rows(answer, "/missing"))
            .filter_map(|node| Some(node.as_str()?.to_owned()))
            .collect();
        missing.sort();
        missing.dedup();
        More {
            hour: hour.get(hour.len().saturating_sub(HOUR_STEPS)..).unwrap_or_default().to_vec(),
            frequent: FrequentValues::new(&answers.frequent),
            refused: rows(&answers.tail, "/entries").take(ROWS).map(Refused::new).collect(),
            missing,
        }
    }

    /// The past hour as a line of bars, each relative to the highest.
    pub(super) fn bars(&self) -> String {
        let most = self.hour.iter().flatten().fold(0.0_f64, |most, rate| most.max(*rate));
        let bar = |rate: &Option<f64>| match rate {
            None => '\u{b7}',
            Some(rate) if most <= 0.0 || *rate <= 0.0 => ' ',
            Some(rate) => {
                let height = (rate / most * (BARS.len() - 1) as f64).ceil() as usize;
                BARS.get(height.min(BARS.len() - 1)).copied().unwrap_or(' ')
            }
        };
        self.hour.iter().map(bar).collect()
    }

    /// The highest rate of the past hour.
    pub(super) fn most_per_s(&self) -> f64 {
        self.hour.iter().flatten().fold(0.0, |most, rate| most.max(*rate))
    }

    pub(super) fn to_json(&self) -> Value {
        let refused = self.refused.iter().map(|refused| {
            json!({
                "unix_ms": refused.unix_ms, "node": refused.node, "api_id": refused.api, "status": refused.status,
                "cause": refused.cause, "caller": refused.caller, "limit": refused.limit,
            })
        });
        json!({
            "hour_per_s": self.hour,
            "top": self.frequent.to_json(),
            "refused": refused.collect::<Vec<_>>(),
            "missing": self.missing,
        })
    }
}

impl FrequentValues {
    fn new(answer: &Value) -> Self {
        // A key or address may be missing from a request.
        let name = |row: &Value| Some(text(row, "value")).filter(|value| !value.is_empty()).unwrap_or_else(|| "none".to_owned());
        FrequentValues {
            by: text(answer, "by"),
            window_s: answer.get("window_s").and_then(Value::as_u64).unwrap_or_default(),
            rows: rows(answer, "/rows").filter_map(|row| Some((name(row), row.get("requests")?.as_u64()?))).collect(),
        }
    }

    fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|(value, requests)| json!({ "value": value, "requests": requests }));
        json!({ "by": self.by, "window_s": self.window_s, "rows": rows.collect::<Vec<_>>() })
    }

    /// Such as `path, 1 minute`.
    pub(super) fn title(&self) -> String {
        let FrequentValues { by, window_s, .. } = self;
        match (window_s % 60, window_s / 60) {
            (0, 1) => format!("{by}, 1 minute"),
            (0, minutes) => format!("{by}, {minutes} minutes"),
            _ => format!("{by}, {window_s} s"),
        }
    }
}

impl Refused {
    fn new(entry: &Value) -> Self {
        let limit = entry.get("limit").filter(|limit| !limit.is_null());
        let number = |name: &str| entry.get(name).and_then(Value::as_u64).unwrap_or_default();
        let (alias, key) = (text(entry, "alias"), text(entry, "key"));
        Refused {
            unix_ms: number("unix_ms"),
            node: text(entry, "node"),
            api: text(entry, "api_id"),
            status: number("status"),
            cause: text(entry, "cause"),
            caller: if alias.is_empty() { key.chars().take(12).collect() } else { alias },
            limit: limit.map(limit_text).unwrap_or_default(),
        }
    }

    /// Age, status, API, cause and who, as a line.
    pub(super) fn line(&self, now_ms: u64) -> String {
        let age_s = now_ms.saturating_sub(self.unix_ms) / 1_000;
        let Refused { status, api, cause, caller, limit, .. } = self;
        let limit = if limit.is_empty() { String::new() } else { format!(" ({limit})") };
        let caller = if caller.is_empty() { String::new() } else { format!(" {}", shown(caller)) };
        format!("{age_s:>5} s ago  {status} {} {}{limit}{caller}", shown(api), shown(cause))
    }
}

/// A limit in words.
fn limit_text(limit: &Value) -> String {
    let number = |name: &str| limit.get(name).and_then(Value::as_u64);
    let of = text(limit, "of");
    match (number("max"), number("per_s")) {
        (Some(max), Some(per_s)) => format!("{max} per {per_s} s, {of}"),
        (Some(max), None) => format!("{max}, {of}"),
        _ => String::new(),
    }
}

impl TargetView {
    /// The targets of an API between two samples.
    pub(super) fn between(api: &str, old: &Value, new: &Value, seconds: f64) -> Vec<Self> {
        let url = |target: &Value| (text(target, "version"), text(target, "part"), text(target, "url"));
        let targets = rows(new, "/targets").map(|target| {
            let before = rows(old, "/targets").find(|before| url(before) == url(target)).unwrap_or(&Value::Null);
            let number = |of: &Value, name: &str| of.get(name).and_then(Value::as_f64).unwrap_or_default();
            let per_s = |name: &str| (number(target, name) - number(before, name)).max(0.0) / seconds;
            let (state, cause) = (text(target, "state"), text(target, "cause"));
            TargetView {
                api: api.to_owned(),
                url: text(target, "url"),
                state: if cause.is_empty() { state } else { format!("{state}: {cause}") },
                requests_per_s: per_s("requests"),
                faults_per_s: per_s("faults"),
                in_flight: number(target, "in_flight") as u64,
                latency_ms: number(target, "latency_us") / 1_000.0,
            }
        });
        targets.collect()
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "api_id": self.api, "url": self.url, "state": self.state, "requests_per_s": self.requests_per_s,
            "faults_per_s": self.faults_per_s, "in_flight": self.in_flight, "latency_ms": self.latency_ms,
        })
    }

    pub(super) fn line(&self) -> String {
        let TargetView { api, url, state, requests_per_s, faults_per_s, latency_ms, .. } = self;
        format!("{requests_per_s:>8.1}/s {faults_per_s:>6.1} faults/s {latency_ms:>7.1} ms  {} {} {state}", shown(api), shown(url))
    }
}

/// A text of others without terminal control characters.
pub(super) fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn rows<'v>(value: &'v Value, path: &str) -> impl Iterator<Item = &'v Value> {
    value.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{More, MoreAnswers, TargetView};
    use serde_json::{Value, json};

    #[test]
    fn answers_become_lines_and_an_older_gateway_has_none() {
        let answers = MoreAnswers {
            history: json!({"step_s": 60, "totals": {"requests": [null, 0, 60, 120]}, "missing": ["gw-3"]}),
            frequent: json!({"by": "agent", "window_s": 300, "rows": [{"value": "curl/8", "requests": 7}, {"value": "", "requests": 1}], "missing": ["gw-3"]}),
            tail: json!({"entries": [{
                "unix_ms": 1_000, "node": "gw-1", "api_id": "shop", "status": 429, "cause": "key_rate_limit", "alias": "ac\u{7}me",
                "limit": {"what": "rate", "of": "key", "max": 2, "per_s": 60},
            }]}),
        };
        let more = More::new(&answers);
        assert_eq!(more.bars(), "\u{b7} \u{2584}\u{2588}");
        assert_eq!((more.most_per_s(), more.frequent.title().as_str()), (2.0, "agent, 5 minutes"));
        assert_eq!(more.frequent.rows, [("curl/8".to_owned(), 7), ("none".to_owned(), 1)]);
        assert_eq!(more.missing, ["gw-3"]);
        assert_eq!(more.refused[0].line(4_000), "    3 s ago  429 shop key_rate_limit (2 per 60 s, key) ac?me");
        assert_eq!(More::new(&MoreAnswers::default()), More::default());
    }

    #[test]
    fn targets_have_rates_between_two_samples() {
        let targets = |requests: u64| json!({"targets": [{"url": "http://a", "state": "ejected", "cause": "faults", "requests": requests, "faults": 1, "latency_us": 1500}]});
        let shown = TargetView::between("shop", &targets(10), &targets(30), 2.0);
        assert_eq!(shown[0].line(), "    10.0/s    0.0 faults/s     1.5 ms  shop http://a ejected: faults");
        assert_eq!(TargetView::between("shop", &Value::Null, &Value::Null, 1.0), []);
    }
}
