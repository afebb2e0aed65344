//! Rules of routers: conditions with `&&`, `||` and parentheses.

use super::of_path;
use crate::pattern::{escaped, searched};
use crate::plan::{PlannedMatch, PlannedPath, PlannedValue};

/// Hosts, matches and addresses of one alternative.
type Alternative = (Vec<String>, Vec<PlannedMatch>, Vec<String>);

/// Most conditions of a rule.
const CONDITIONS_MAX: usize = 64;
/// Most alternatives, also those between.
const ALTERNATIVES_MAX: usize = 64;

/// One way to fit.
#[derive(Clone, Default)]
struct Fit {
    hosts: Option<Vec<String>>,
    matched: PlannedMatch,
    addresses: Vec<String>,
}

/// The alternatives of a rule, of which there are none if it asks for two methods at once; the error says what has no counterpart.
pub(super) fn read(text: &str) -> Result<Vec<Alternative>, String> {
    let mut parser = RuleParser { rest: text.trim(), count: 0 };
    let fits = parser.any(0)?;
    if !parser.rest.trim().is_empty() {
        return Err(format!("{} is not understood", parser.rest));
    }
    Ok(fits.into_iter().map(|fit| (fit.hosts.unwrap_or_default(), vec![fit.matched], fit.addresses)).collect())
}

struct RuleParser<'t> {
    rest: &'t str,
    count: usize,
}

impl RuleParser<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start();
        let is_next = rest.starts_with(sign);
        self.rest = rest.strip_prefix(sign).unwrap_or(rest);
        is_next
    }

    fn any(&mut self, depth: usize) -> Result<Vec<Fit>, String> {
        let mut fits = self.all(depth)?;
        while self.takes("||") {
            fits.extend(self.all(depth)?);
        }
        if fits.len() > ALTERNATIVES_MAX { Err("has too many alternatives".to_owned()) } else { Ok(fits) }
    }

    fn all(&mut self, depth: usize) -> Result<Vec<Fit>, String> {
        let mut fits = self.one(depth)?;
        while self.takes("&&") {
            let others = self.one(depth)?;
            if fits.len() * others.len() > ALTERNATIVES_MAX {
                return Err("has too many alternatives".to_owned());
            }
            let mut both = Vec::new();
            for fit in &fits {
                for other in &others {
                    both.extend(joined(fit, other)?);
                }
            }
            fits = both;
        }
        Ok(fits)
    }

    fn one(&mut self, depth: usize) -> Result<Vec<Fit>, String> {
        self.count += 1;
        if depth > 16 || self.count > CONDITIONS_MAX {
            return Err("has too many conditions".to_owned());
        }
        if self.takes("!") {
            return Err("what must not be has no counterpart".to_owned());
        }
        if self.takes("(") {
            let fits = self.any(depth + 1)?;
            return if self.takes(")") { Ok(fits) } else { Err("a parenthesis is not closed".to_owned()) };
        }
        let (name, behind) = self.rest.split_once('(').ok_or_else(|| format!("{} is not understood", self.rest))?;
        let name = name.trim().to_owned();
        let mut words = Vec::new();
        let mut rest = behind;
        loop {
            rest = rest.trim_start();
            let quote =
                rest.chars().next().filter(|quote| matches!(quote, '`' | '"' | '\'')).ok_or("a value has no quotation marks")?;
            let inner = rest.get(1..).unwrap_or_default();
            let (word, after) = inner.split_once(quote).ok_or("a quotation mark is not closed")?;
            words.push(word.to_owned());
            rest = after.trim_start();
            match (rest.strip_prefix(','), rest.strip_prefix(')')) {
                (Some(more), _) => rest = more,
                (_, Some(end)) => {
                    self.rest = end;
                    return condition(&name, &words);
                }
                _ => return Err("a parenthesis is not closed".to_owned()),
            }
        }
    }
}

/// What fits both; `None` if nothing does.
fn joined(one: &Fit, other: &Fit) -> Result<Option<Fit>, String> {
    let mut both = one.clone();
    if let Some(hosts) = &other.hosts {
        if both.hosts.is_some() {
            return Err("two conditions for the host".to_owned());
        }
        both.hosts = Some(hosts.clone());
    }
    if !other.addresses.is_empty() && !both.addresses.is_empty() && both.addresses != other.addresses {
        return Err("two conditions for the address".to_owned());
    }
    if both.addresses.is_empty() {
        both.addresses.clone_from(&other.addresses);
    }
    Ok(both.matched.narrow(&other.matched)?.then_some(both))
}

fn condition(name: &str, words: &[String]) -> Result<Vec<Fit>, String> {
    let paths = |path: &dyn Fn(&str) -> Result<PlannedPath, String>| {
        words.iter().map(|word| Ok(Fit { matched: of_path(path(word)?), ..Fit::default() })).collect::<Result<Vec<_>, String>>()
    };
    let pair = |is_pattern: bool| match words {
        [name, value] => Ok(PlannedValue { name: name.clone(), value: value.clone(), is_pattern }),
        _ => Err(format!("{name} has a name and a value")),
    };
    match name {
        "Host" => {
            let hosts: Vec<String> = words.iter().flat_map(|word| word.split(',')).map(|host| host.trim().to_lowercase()).collect();
            Ok(vec![Fit { hosts: Some(hosts), ..Fit::default() }])
        }
        "HostRegexp" => {
            let host = |word: &String| {
                let below = word
                    .strip_prefix("{subdomain:[a-z]+}.")
                    .or_else(|| word.strip_prefix("^.+\\."))
                    .or_else(|| word.strip_prefix("^[^.]+\\."));
                let below = below.map(|below| below.trim_end_matches('$').replace("\\.", "."));
                below.filter(|below| !below.contains(['(', '[', '{', '\\', '*', '+'])).map(|below| format!("*.{below}"))
            };
            let hosts: Option<Vec<String>> = words.iter().map(host).collect();
            Ok(vec![Fit { hosts: Some(hosts.ok_or("hosts are names or begin with *.")?), ..Fit::default() }])
        }
        "Path" => paths(&|word| match word.contains('{') {
            true => searched(&format!("^{}$", parameters(word)), false).map(PlannedPath::Pattern),
            false => Ok(PlannedPath::Pattern(escaped(word))),
        }),
        "PathPrefix" => paths(&|word| match word.contains('{') {
            true => searched(&format!("^{}", parameters(word)), false).map(PlannedPath::Pattern),
            false => Ok(PlannedPath::Begins(word.to_owned())),
        }),
        "PathRegexp" => paths(&|word| searched(word, false).map(PlannedPath::Pattern)),
        "Method" => Ok(words
            .iter()
            .map(|word| Fit { matched: PlannedMatch { method: word.to_uppercase(), ..PlannedMatch::default() }, ..Fit::default() })
            .collect()),
        "Header" | "Headers" | "HeaderRegexp" | "HeadersRegexp" => {
            let mut value = pair(name.ends_with("Regexp"))?;
            if value.is_pattern {
                value.value = searched(&value.value, false)?;
            }
            Ok(vec![Fit { matched: PlannedMatch { headers: vec![value], ..PlannedMatch::default() }, ..Fit::default() }])
        }
        "Query" => {
            let value = match words {
                [one] => {
                    let (name, value) = one.split_once('=').ok_or("Query has a name and a value")?;
                    PlannedValue { name: name.to_owned(), value: value.to_owned(), is_pattern: false }
                }
                _ => pair(false)?,
            };
            Ok(vec![Fit { matched: PlannedMatch { query: vec![value], ..PlannedMatch::default() }, ..Fit::default() }])
        }
        "ClientIP" => Ok(vec![Fit { addresses: words.to_vec(), ..Fit::default() }]),
        _ => Err(format!("{name} has no counterpart")),
    }
}

/// `{name}` and `{name:expression}` of the former form.
fn parameters(word: &str) -> String {
    let mut text = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(&escaped(before));
        let Some((inner, behind)) = after.split_once('}') else { break };
        text.push_str(&inner.split_once(':').map_or_else(|| "[^/]+".to_owned(), |(_, expression)| format!("(?:{expression})")));
        rest = behind;
    }
    text + &escaped(rest)
}
