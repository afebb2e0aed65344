//! `acl`s and conditions that name them.

use super::lines::{Line, is_name};
use crate::authority::wrong_network;
use crate::pattern::{escaped, searched};
use crate::plan::{PlannedMatch, PlannedPath, PlannedValue};
use crate::report::ImportReport;
use std::collections::BTreeMap;

/// What a condition of TLS alone says.
pub(super) const ALWAYS_TLS: &str = "the request has TLS";

/// One way to fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fit {
    pub hosts: Vec<String>,
    pub matched: PlannedMatch,
    pub addresses: Vec<String>,
}

/// The ways to fit each name; the error says what has no counterpart.
#[derive(Default)]
pub(super) struct Conditions(BTreeMap<String, Result<Vec<Fit>, String>>);

impl Conditions {
    pub(super) fn define(&mut self, line: &Line, report: &mut ImportReport) {
        let fits = test(line.from(2)).and_then(|fits| match is_name(line.word(1)) {
            true => Ok(fits),
            false => Err(format!("{} is no name", line.word(1))),
        });
        match &fits {
            Ok(_) => report.carried(&line.place, "acl"),
            Err(why) => report.not_carried(&line.place, "acl", why.clone()),
        }
        match self.0.get_mut(line.word(1)) {
            // Lines of one name are alternatives.
            Some(Ok(known)) => match fits {
                Ok(fits) => known.extend(fits),
                Err(why) => {
                    self.0.insert(line.word(1).to_owned(), Err(why));
                }
            },
            Some(Err(_)) => {}
            None => {
                self.0.insert(line.word(1).to_owned(), fits);
            }
        }
    }

    /// The ways to fit `if a b or c`; none if it asks for two methods at once.
    pub(super) fn of(&self, words: &[String]) -> Result<Vec<Fit>, String> {
        // Without one, all requests fit.
        let Some((first, rest)) = words.split_first() else { return Ok(vec![Fit::default()]) };
        if !matches!(first.as_str(), "if" | "unless") || rest.is_empty() {
            return Err(format!("{} is no condition", words.join(" ")));
        }
        if first == "unless" {
            let is_tls = rest.join(" ").contains("ssl_fc");
            // Requests without TLS are those of the listeners without it.
            return if is_tls { Ok(vec![Fit::default()]) } else { Err("what must not be has no counterpart".to_owned()) };
        }
        let mut all = Vec::new();
        let mut part = vec![Fit::default()];
        let mut words = rest.iter();
        // Nothing stands between the beginning, an `or` and the end.
        let mut wants_more = true;
        while let Some(word) = words.next() {
            let fits = match word.as_str() {
                "or" | "||" => {
                    if std::mem::replace(&mut wants_more, true) {
                        return Err(format!("{word} stands where a condition is missing"));
                    }
                    all.append(&mut part);
                    part = vec![Fit::default()];
                    continue;
                }
                "{" => {
                    let inner: Vec<String> = words.by_ref().take_while(|word| *word != "}").cloned().collect();
                    match inner.join(" ").contains("ssl_fc") {
                        true => return Err(ALWAYS_TLS.to_owned()),
                        false => test(&inner)?,
                    }
                }
                "!" => return Err("what must not be has no counterpart".to_owned()),
                "!{" => {
                    let inner: Vec<String> = words.by_ref().take_while(|word| *word != "}").cloned().collect();
                    match inner.join(" ").contains("ssl_fc") {
                        true => vec![Fit::default()],
                        false => return Err("what must not be has no counterpart".to_owned()),
                    }
                }
                name if name.starts_with('!') => return Err("what must not be has no counterpart".to_owned()),
                name => self.0.get(name).cloned().unwrap_or_else(|| Err(format!("there is no acl {name}")))?,
            };
            wants_more = false;
            let mut both = Vec::new();
            for one in &part {
                for other in &fits {
                    both.extend(joined(one, other)?);
                }
            }
            if both.len() > 200 {
                return Err("has too many alternatives".to_owned());
            }
            part = both;
        }
        if wants_more {
            return Err("ends where a condition is missing".to_owned());
        }
        all.append(&mut part);
        Ok(all)
    }

    /// If a condition is about addresses alone: whether it holds for them or for all others, and the addresses.
    pub(super) fn addresses(&self, words: &[String]) -> Option<(bool, Vec<String>)> {
        let (first, rest) = words.split_first()?;
        let [name] = rest else { return None };
        let bare = name.trim_start_matches('!');
        let is_negated = (bare != name) != (first == "unless");
        let fits = self.0.get(bare)?.as_ref().ok()?;
        let all: Option<Vec<String>> = fits
            .iter()
            .map(|fit| {
                (*fit == Fit { addresses: fit.addresses.clone(), ..Fit::default() } && !fit.addresses.is_empty())
                    .then(|| fit.addresses.clone())
            })
            .collect::<Option<Vec<_>>>()
            .map(|lists| lists.concat());
        all.map(|list| (!is_negated, list))
    }
}

/// What fits both; `None` if nothing does.
fn joined(one: &Fit, other: &Fit) -> Result<Option<Fit>, String> {
    let mut both = one.clone();
    if !other.hosts.is_empty() {
        if !both.hosts.is_empty() && both.hosts != other.hosts {
            return Err("two conditions for the host".to_owned());
        }
        both.hosts.clone_from(&other.hosts);
    }
    if !other.addresses.is_empty() && !both.addresses.is_empty() && both.addresses != other.addresses {
        return Err("two conditions for the address".to_owned());
    }
    if both.addresses.is_empty() {
        both.addresses.clone_from(&other.addresses);
    }
    Ok(both.matched.narrow(&other.matched)?.then_some(both))
}

/// One test: what is fetched, flags, values.
fn test(words: &[String]) -> Result<Vec<Fit>, String> {
    let (fetch, rest) = words.split_first().ok_or("an acl tests nothing")?;
    let ignores_case = rest.iter().any(|word| word == "-i");
    let mut method = "";
    let mut values: Vec<&str> = Vec::new();
    let mut skips = false;
    for word in rest {
        match word.as_str() {
            "-m" => skips = true,
            word if skips => {
                method = word;
                skips = false;
            }
            word if word.starts_with('-') && word.len() == 2 => {
                if word == "-f" {
                    return Err("values in files are not read".to_owned());
                }
            }
            word => values.push(word),
        }
    }
    let (name, argument) =
        fetch.split_once('(').map_or((fetch.as_str(), ""), |(name, rest)| (name, rest.split(')').next().unwrap_or_default()));
    let (name, suffix) = ["_beg", "_end", "_reg", "_sub", "_dir", "_dom"]
        .iter()
        .find_map(|suffix| Some((name.strip_suffix(suffix)?, *suffix)))
        .unwrap_or((name, ""));
    let how = match (suffix.trim_start_matches('_'), method) {
        ("", "") | ("", "str") => "str",
        ("", method) => method,
        (suffix, _) => suffix,
    };
    let pattern = |value: &str| -> Result<String, String> {
        let flags = if ignores_case { "(?i)" } else { "" };
        Ok(match how {
            "str" => format!("{flags}{}", escaped(value)),
            "beg" => format!("{flags}{}.*", escaped(value)),
            "end" => format!("{flags}.*{}", escaped(value)),
            "sub" | "dir" => format!("{flags}.*{}.*", escaped(value)),
            "reg" => searched(value, ignores_case)?,
            "found" => ".*".to_owned(),
            _ => return Err(format!("{how} has no counterpart")),
        })
    };
    let each =
        |fit: &dyn Fn(&str) -> Result<Fit, String>| values.iter().map(|value| fit(value)).collect::<Result<Vec<_>, String>>();
    let is_host = |name: &str, argument: &str| {
        matches!((name, argument.to_lowercase().split(',').next()), ("hdr" | "req.hdr" | "req.fhdr", Some("host")))
    };
    match name {
        name if is_host(name, argument) => each(&|value| match how {
            "str" => Ok(Fit { hosts: vec![value.split(':').next().unwrap_or_default().to_lowercase()], ..Fit::default() }),
            "end" | "dom" if value.starts_with('.') => {
                Ok(Fit { hosts: vec![format!("*{}", value.to_lowercase())], ..Fit::default() })
            }
            "dom" => Ok(Fit { hosts: vec![value.to_lowercase(), format!("*.{}", value.to_lowercase())], ..Fit::default() }),
            _ => Err("hosts are names or begin with *.".to_owned()),
        }),
        "path" | "url" | "capture.req.uri" => each(&|value| {
            let path = if how == "beg" && !ignores_case {
                PlannedPath::Begins(value.to_owned())
            } else {
                PlannedPath::Pattern(pattern(value)?)
            };
            Ok(Fit { matched: PlannedMatch { path, ..PlannedMatch::default() }, ..Fit::default() })
        }),
        "method" => each(&|value| {
            Ok(Fit { matched: PlannedMatch { method: value.to_uppercase(), ..PlannedMatch::default() }, ..Fit::default() })
        }),
        "hdr" | "req.hdr" | "req.fhdr" => {
            let list = if values.is_empty() && how == "found" { vec![""] } else { values.clone() };
            list.into_iter()
                .map(|value| {
                    let header = PlannedValue {
                        name: argument.split(',').next().unwrap_or_default().to_owned(),
                        value: pattern(value)?,
                        is_pattern: true,
                    };
                    Ok(Fit { matched: PlannedMatch { headers: vec![header], ..PlannedMatch::default() }, ..Fit::default() })
                })
                .collect()
        }
        "url_param" | "urlp" => each(&|value| {
            let query = PlannedValue { name: argument.to_owned(), value: pattern(value)?, is_pattern: true };
            Ok(Fit { matched: PlannedMatch { query: vec![query], ..PlannedMatch::default() }, ..Fit::default() })
        }),
        "src" if values.is_empty() => Err("src has no addresses".to_owned()),
        "src" => match wrong_network(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>()) {
            Some(why) => Err(why),
            None => Ok(vec![Fit { addresses: values.iter().map(|value| (*value).to_owned()).collect(), ..Fit::default() }]),
        },
        _ => Err(format!("{fetch} has no counterpart")),
    }
}
