//! What one API wants of rules that many share: levels, thresholds, exclusions.

use crate::rule::RuleSelection;
use crate::source::{Part, ValueSource};
use crate::variable::RuleTarget;

/// Settings of one API.
#[derive(Debug, Default)]
pub struct RuleProfile {
    /// Variables of `TX`, by names in lower case. Rules cannot change them.
    pub(crate) pinned: Vec<(String, String)>,
    pub(crate) exclusions: Vec<RuleExclusion>,
}

/// Rules that do not look at some requests, or at some of their values.
#[derive(Debug)]
pub struct RuleExclusion {
    /// The paths that it is for: those that begin with one of these; empty for all.
    paths: Vec<String>,
    /// The rules; empty for all.
    rules: Vec<RuleSelection>,
    /// Variables that they do not look at; empty for all.
    targets: Vec<RuleTarget>,
}

impl RuleExclusion {
    /// `targets` are variables such as `ARGS:password`. `Err` says which one is none.
    pub fn new(paths: Vec<String>, rules: Vec<RuleSelection>, targets: &[String]) -> Result<Self, String> {
        let targets = targets.iter().map(|target| RuleTarget::read(target)).collect::<Result<_, _>>()?;
        Ok(RuleExclusion { paths, rules, targets })
    }

    fn is_for(&self, path: &[u8], id: u32, tags: &[String]) -> bool {
        let has_path = self.paths.is_empty() || self.paths.iter().any(|start| path.starts_with(start.as_bytes()));
        has_path && (self.rules.is_empty() || self.rules.iter().any(|rules| rules.has(id, tags)))
    }
}

impl RuleProfile {
    /// Gives a variable of `TX` a value that rules cannot change.
    pub fn pin(&mut self, name: &str, value: i64) {
        self.pinned.push((name.to_ascii_lowercase(), value.to_string()));
    }

    /// Adds an exclusion.
    pub fn exclude(&mut self, exclusion: RuleExclusion) {
        self.exclusions.push(exclusion);
    }

    pub(crate) fn is_pinned(&self, name: &[u8]) -> bool {
        self.pinned.iter().any(|(pinned, _)| pinned.as_bytes().eq_ignore_ascii_case(name))
    }

    /// Whether the rule looks at no value of a request for this path.
    pub(crate) fn removes(&self, path: &[u8], id: u32, tags: &[String]) -> bool {
        self.exclusions.iter().any(|exclusion| exclusion.targets.is_empty() && exclusion.is_for(path, id, tags))
    }

    /// Whether the rule does not look at this value.
    pub(crate) fn hides(&self, path: &[u8], id: u32, tags: &[String], value: (ValueSource, Part, &[u8])) -> bool {
        let (source, part, name) = value;
        let mut exclusions = self.exclusions.iter();
        exclusions.any(|exclusion| {
            exclusion.targets.iter().any(|target| target.selects(source, part, name)) && exclusion.is_for(path, id, tags)
        })
    }
}
