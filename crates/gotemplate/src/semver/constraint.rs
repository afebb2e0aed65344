//! Constraints on versions: `>= 1.2, < 3 || ~4.1`, `1.x`, `^0.3`, `1.2 - 1.4`.

use super::{SemanticVersion, order_of_prereleases};
use regex::Regex;
use std::cmp::Ordering;
use std::sync::LazyLock;

/// Longest constraint, in bytes. Written ones are short, and their alternatives are checked one by one.
const CONSTRAINT_BYTES_MAX: usize = 4096;

const OPERATORS: &str = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^";
/// A version in which each number can be missing, or be a wildcard.
const VERSION: &str = concat!(
    r"v?[0-9|xX*]+(?:\.[0-9|xX*]+)?(?:\.[0-9|xX*]+)?",
    r"(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
);
/// White space, as Go's expressions define it.
const SPACE: &str = r"[\t\n\x0C\r\x20]";

/// The grammar.
struct Grammar {
    range: Regex,
    alternative: Regex,
    term: Regex,
    parts: Regex,
}

static GRAMMAR: LazyLock<Option<Grammar>> = LazyLock::new(|| {
    let term = format!("(?:{OPERATORS}){SPACE}*{VERSION}");
    let numbers = r"v?([0-9|xX*]+)(?:\.([0-9|xX*]+))?(?:\.([0-9|xX*]+))?(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?";
    Some(Grammar {
        range: Regex::new(&format!("{SPACE}*({VERSION}){SPACE}+-{SPACE}+({VERSION}){SPACE}*")).ok()?,
        alternative: Regex::new(&format!("^{SPACE}*{term}{SPACE}*(?:(?:{SPACE}+|,{SPACE}*){term}{SPACE}*)*$")).ok()?,
        term: Regex::new(&format!("({OPERATORS}){SPACE}*({VERSION})")).ok()?,
        parts: Regex::new(&format!("^{numbers}$")).ok()?,
    })
});

/// One comparison. Numbers that are missing or wildcards are 0.
struct Bound<'t> {
    operator: &'t str,
    version: SemanticVersion,
    /// The first number that is missing or a wildcard.
    open: Option<VersionLevel>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VersionLevel {
    Major,
    Minor,
    Patch,
}

/// Whether a version satisfies a constraint.
pub(crate) fn satisfies(constraint: &str, version: &SemanticVersion) -> Result<bool, String> {
    if constraint.len() > CONSTRAINT_BYTES_MAX {
        return Err(format!("the constraint has more than {CONSTRAINT_BYTES_MAX} bytes"));
    }
    let grammar = GRAMMAR.as_ref().ok_or("no grammar")?;
    let constraint = grammar.range.replace_all(constraint, ">= $1, <= $2 ");
    // All alternatives are read before any of them is checked.
    let alternatives: Vec<Vec<Bound<'_>>> = constraint.split("||").map(|text| bounds(grammar, text)).collect::<Result<_, _>>()?;
    Ok(alternatives.iter().any(|bounds| bounds.iter().all(|bound| bound.admits(version))))
}

fn bounds<'t>(grammar: &Grammar, alternative: &'t str) -> Result<Vec<Bound<'t>>, String> {
    let improper = || format!("improper constraint: {alternative}");
    if !grammar.alternative.is_match(alternative) {
        return Err(improper());
    }
    let terms = grammar.term.captures_iter(alternative);
    terms
        .map(|term| {
            let text = |group: usize| term.get(group).map_or("", |found| found.as_str());
            bound(grammar, text(1), text(2)).ok_or_else(improper)
        })
        .collect()
}

fn bound<'t>(grammar: &Grammar, operator: &'t str, version: &str) -> Option<Bound<'t>> {
    let parts = grammar.parts.captures(version)?;
    let part = |group: usize| parts.get(group).map(|found| found.as_str());
    let is_open = |group: usize| part(group).is_none_or(|text| matches!(text, "x" | "X" | "*"));
    let (open, numbers) = match (part(1)?, part(2), part(3)) {
        _ if is_open(1) => (Some(VersionLevel::Major), "0.0.0".to_owned()),
        (major, ..) if is_open(2) => (Some(VersionLevel::Minor), format!("{major}.0.0")),
        (major, Some(minor), _) if is_open(3) => (Some(VersionLevel::Patch), format!("{major}.{minor}.0")),
        (major, Some(minor), Some(patch)) => (None, format!("{major}.{minor}.{patch}")),
        _ => return None,
    };
    let prerelease = part(4).unwrap_or_default();
    let version = SemanticVersion::parse(&format!("{numbers}{prerelease}")).ok()?;
    Some(Bound { operator, version, open })
}

impl Bound<'_> {
    fn admits(&self, version: &SemanticVersion) -> bool {
        let own = &self.version;
        // Only a constraint with a pre-release admits pre-releases.
        let skips = !version.prerelease.is_empty() && own.prerelease.is_empty();
        if skips && (self.operator != "!=" || self.open.is_some()) {
            return false;
        }
        let order = version.order(own);
        match self.operator {
            "!=" => self.differs(version),
            ">" => match self.open {
                None => order.is_gt(),
                _ if version.major != own.major => version.major > own.major,
                Some(VersionLevel::Minor) => false,
                Some(VersionLevel::Patch) => version.minor > own.minor,
                Some(VersionLevel::Major) => order.is_gt(),
            },
            "<" => order.is_lt(),
            ">=" | "=>" => order.is_ge(),
            "<=" | "=<" if self.open.is_none() => order.is_le(),
            "<=" | "=<" => {
                let is_above = version.minor > own.minor && self.open != Some(VersionLevel::Minor);
                version.major < own.major || version.major == own.major && !is_above
            }
            "^" => order.is_ge() && self.admits_caret(version),
            "" | "=" if self.open.is_none() => order.is_eq(),
            // `~`, `~>`, and a version with a wildcard.
            _ => order.is_ge() && self.admits_tilde(version),
        }
    }

    fn differs(&self, version: &SemanticVersion) -> bool {
        let own = &self.version;
        match self.open {
            None => version.order(own).is_ne(),
            _ if version.major != own.major => true,
            Some(VersionLevel::Minor) => false,
            _ if version.minor != own.minor => true,
            Some(VersionLevel::Patch) => order_of_open(&version.prerelease, &own.prerelease).is_ne(),
            // As in the library, `!= *` compares with 0.0.0.
            Some(VersionLevel::Major) => version.patch != own.patch || version.order(own).is_ne(),
        }
    }

    /// `~1.2`: the last number that is written may grow.
    fn admits_tilde(&self, version: &SemanticVersion) -> bool {
        let own = &self.version;
        let is_zero = (own.major, own.minor, own.patch) == (0, 0, 0);
        if is_zero && matches!(self.open, None | Some(VersionLevel::Major)) {
            return true;
        }
        version.major == own.major && (version.minor == own.minor || self.open == Some(VersionLevel::Minor))
    }

    /// `^1.2`: the first number that is not 0 stays.
    fn admits_caret(&self, version: &SemanticVersion) -> bool {
        let own = &self.version;
        if own.major > 0 || self.open == Some(VersionLevel::Minor) {
            return version.major == own.major;
        }
        if version.major > 0 {
            return false;
        }
        if own.minor > 0 || self.open == Some(VersionLevel::Patch) {
            return version.minor == own.minor;
        }
        version.minor == 0 && version.patch == own.patch
    }
}

/// The order of pre-releases where an empty one is a part like any other.
fn order_of_open(left: &str, right: &str) -> Ordering {
    match (left.is_empty(), right.is_empty()) {
        (false, false) => order_of_prereleases(left, right),
        (left, right) => right.cmp(&left),
    }
}
