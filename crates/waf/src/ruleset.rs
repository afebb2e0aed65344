//! Rules of many files as one set, which is compiled once for all requests.

use crate::rule::{self, Effect, Rule, RuleSelection, Skip, Verdict};
use crate::syntax::{self, Directive};
use crate::transformation::Transformation;
use crate::variable::TargetList;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A file of rules.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RuleFile {
    /// What problems call it.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// The files of a set, and those with words that its rules name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RuleFiles {
    /// In the order in which they act.
    pub rules: Vec<RuleFile>,
    /// Texts by the name that rules use.
    pub words: BTreeMap<String, String>,
}

/// Something in a file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProblem {
    /// Name of the file.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// Compiled rules.
#[derive(Debug, Default)]
pub struct Ruleset {
    /// Rules in their order, by phase from 1.
    pub(crate) by_phase: [Vec<Rule>; PHASES],
    /// Where markers are: in each phase, the number of rules before them.
    markers: BTreeMap<String, [usize; PHASES]>,
    /// Variables of `TX`, in lower case, whose names are written in the rules. All others have names that requests make up.
    pub(crate) lasting: BTreeSet<Vec<u8>>,
    without_effect: Vec<RuleProblem>,
}

pub(crate) const PHASES: usize = 5;

/// Directives about matters that the gateway decides, and what decides them. [`NOTHING`] has nothing like it.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("secruleengine", "`mode` of the API decides"),
    ("secrequestbodyaccess", "`body_max` of the API decides"),
    ("secrequestbodylimit", "`body_max` of the API decides"),
    ("secrequestbodynofileslimit", "`body_max` of the API decides"),
    ("secrequestbodyinmemorylimit", NOTHING),
    ("secrequestbodylimitaction", "`larger_bodies` of the API decides"),
    ("secrequestbodyjsondepthlimit", "127 levels are read"),
    ("secresponsebodyaccess", "`responses` of the API decides"),
    ("secresponsebodymimetype", "`responses` of the API decides"),
    ("secresponsebodylimit", "`responses` of the API decides"),
    ("secresponsebodylimitaction", "`mode` of the API decides"),
    ("secargumentslimit", "`work_max` of the configuration decides"),
    ("secargumentseparator", "it is always `&`"),
    ("seccookieformat", NOTHING),
    ("secauditengine", LOGS),
    ("secauditlog", LOGS),
    ("secauditlogformat", LOGS),
    ("secauditlogparts", LOGS),
    ("secauditlogrelevantstatus", LOGS),
    ("secauditlogtype", LOGS),
    ("secdebuglog", LOGS),
    ("secdebugloglevel", LOGS),
    ("secdatadir", NOTHING),
    ("sectmpdir", NOTHING),
    ("secunicodemapfile", NOTHING),
    ("secstatusengine", NOTHING),
    ("secpcrematchlimit", EXPRESSIONS),
    ("secpcrematchlimitrecursion", EXPRESSIONS),
    ("seccollectiontimeout", "no collection outlives its request"),
    ("seccomponentsignature", NOTHING),
];

const NOTHING: &str = "nothing here depends on it";
const LOGS: &str = "the log and the records of the gateway have what rules find";
const EXPRESSIONS: &str = "expressions take linear time";

impl Ruleset {
    /// Compiles files; or everything that is wrong with them.
    pub fn compile(files: &RuleFiles) -> Result<Self, Vec<RuleProblem>> {
        let (words, set) = (&files.words, Ruleset::default());
        let mut making = Making { set, words, blocks: [false; PHASES], pipelines: Vec::new(), open: None, skips_to: None };
        let mut problems = Vec::new();
        let mut skipping = Vec::new();
        for file in &files.rules {
            let problem = |line: usize, message: String| RuleProblem { file: file.name.clone(), line, message };
            let mut last = 0;
            for directive in syntax::directives(&file.text) {
                last = directive.line;
                let name = directive.name.to_ascii_lowercase();
                if let Some((_, why)) = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name) {
                    making.set.without_effect.push(problem(last, format!("{} has no effect: {why}", directive.name)));
                } else if let Err(message) = making.add(&directive) {
                    problems.push(problem(last, format!("{}: {message}", directive.name)));
                }
                skipping.extend(making.skips_to.take().map(|marker| (marker, problem(last, String::new()))));
            }
            // What is left of the chain would never refuse anything.
            if making.open.take().is_some() {
                problems.push(problem(last, "the chain of the last rule has no further link".to_owned()));
            }
        }
        for (marker, problem) in skipping {
            if !making.set.markers.contains_key(&marker) {
                let message = format!("skipAfter: there is no SecMarker {marker}, so all rules behind this one would be skipped");
                problems.push(RuleProblem { message, ..problem });
            }
        }
        if problems.is_empty() { Ok(making.set) } else { Err(problems) }
    }

    /// Directives that do nothing, each with its place and what decides in its stead.
    pub fn without_effect(&self) -> &[RuleProblem] {
        &self.without_effect
    }

    /// How many rules it has.
    pub fn len(&self) -> usize {
        self.by_phase.iter().map(Vec::len).sum()
    }

    /// Whether it has no rules.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Index of the first rule behind a marker; behind all rules if there is none.
    pub(crate) fn behind_marker(&self, name: &str, phase: usize) -> usize {
        self.markers.get(name).and_then(|places| places.get(phase)).copied().unwrap_or(usize::MAX)
    }

    /// Whether rules match the selection.
    pub fn has(&self, selection: &RuleSelection) -> bool {
        self.by_phase.iter().flatten().any(|rule| selection.has(rule.id, &rule.tags))
    }
}

struct Making<'f> {
    set: Ruleset,
    words: &'f BTreeMap<String, String>,
    /// Whether `block` refuses, by phase.
    blocks: [bool; PHASES],
    pipelines: Vec<Vec<Transformation>>,
    /// A chain of which not all links are read.
    open: Option<Rule>,
    /// The marker that the directive just read skips to.
    skips_to: Option<String>,
}

impl Making<'_> {
    fn add(&mut self, directive: &Directive) -> Result<(), String> {
        let arguments = &directive.arguments;
        let first = arguments.first().map_or("", String::as_str);
        match directive.name.to_ascii_lowercase().as_str() {
            "secrule" => self.add_rule(arguments, false),
            "secaction" => self.add_rule(arguments, true),
            "secmarker" => {
                let places = std::array::from_fn(|phase| self.set.by_phase.get(phase).map_or(0, Vec::len));
                self.set.markers.insert(first.to_owned(), places);
                Ok(())
            }
            "secdefaultaction" => self.set_default(first),
            "secruleremovebyid" => arguments.iter().flat_map(|ids| ids.split_whitespace()).try_for_each(|ids| {
                self.remove(&RuleSelection::ids(ids)?);
                Ok(())
            }),
            "secruleremovebytag" => {
                self.remove(&RuleSelection::Tag(first.to_owned()));
                Ok(())
            }
            "secruleupdatetargetbyid" => self.update_targets(&RuleSelection::ids(first)?, arguments.get(1)),
            "secruleupdatetargetbytag" => self.update_targets(&RuleSelection::Tag(first.to_owned()), arguments.get(1)),
            _ => Err("this directive is not supported".to_owned()),
        }
    }

    fn add_rule(&mut self, arguments: &[String], is_action: bool) -> Result<(), String> {
        let words = self.words;
        let read = rule::read(arguments, is_action, &|name| words.get(name).cloned());
        // A link that cannot be read ends its chain: one problem, not one for each link behind it.
        let open = self.open.take();
        let mut read = read?;
        if let Skip::ToMarker(name) = &read.rule.skip {
            self.skips_to = Some(name.clone());
        }
        for link in &mut read.rule.links {
            let known = self.pipelines.iter().position(|pipeline| *pipeline == link.transformations);
            link.pipeline = known.unwrap_or_else(|| {
                self.pipelines.push(link.transformations.clone());
                self.pipelines.len() - 1
            });
            self.set.lasting.extend(link.effects.iter().filter_map(Effect::sets));
        }
        let is_chained = read.is_chained;
        let rule = match open {
            Some(mut head) => {
                head.links.append(&mut read.rule.links);
                head
            }
            None if read.rule.id == 0 => return Err("the rule has no id".to_owned()),
            None => {
                let phase = usize::from(read.rule.phase) - 1;
                if read.blocks && self.blocks.get(phase).is_some_and(|blocks| *blocks) {
                    read.rule.verdict = Verdict::Deny;
                }
                read.rule
            }
        };
        if is_chained {
            self.open = Some(rule);
            return Ok(());
        }
        if self.set.by_phase.iter().flatten().any(|known| known.id == rule.id) {
            return Err(format!("the id {} is that of another rule", rule.id));
        }
        let phase = usize::from(rule.phase) - 1;
        if let Some(rules) = self.set.by_phase.get_mut(phase) {
            rules.push(rule);
        }
        Ok(())
    }

    fn set_default(&mut self, actions: &str) -> Result<(), String> {
        let actions = syntax::actions(actions);
        let phase = actions.iter().find(|(name, _)| name == "phase").and_then(|(_, phase)| phase.parse::<usize>().ok());
        let denies = actions.iter().any(|(name, _)| matches!(name.as_str(), "deny" | "drop" | "redirect"));
        match phase.and_then(|phase| self.blocks.get_mut(phase.wrapping_sub(1))) {
            Some(blocks) => *blocks = denies,
            None => return Err("must have a phase from 1 to 5".to_owned()),
        }
        Ok(())
    }

    fn remove(&mut self, selection: &RuleSelection) {
        for (phase, rules) in self.set.by_phase.iter_mut().enumerate() {
            let mut index = 0;
            rules.retain(|rule| {
                let is_kept = !selection.has(rule.id, &rule.tags);
                if !is_kept {
                    // Markers behind it move up by one.
                    let places = self.set.markers.values_mut().filter_map(|places| places.get_mut(phase));
                    places.filter(|place| **place > index).for_each(|place| *place -= 1);
                } else {
                    index += 1;
                }
                is_kept
            });
        }
    }

    fn update_targets(&mut self, selection: &RuleSelection, targets: Option<&String>) -> Result<(), String> {
        let targets = targets.ok_or("must have variables")?;
        let rules = self.set.by_phase.iter_mut().flatten().filter(|rule| selection.has(rule.id, &rule.tags));
        for link in rules.filter_map(|rule| rule.links.first_mut()) {
            let mut more = TargetList::read(targets)?;
            link.targets.looked_at.append(&mut more.looked_at);
            link.targets.excluded.append(&mut more.excluded);
        }
        Ok(())
    }
}

impl RuleFiles {
    /// Files by name, for a reader of directories: names that end in `.conf` are rules, those in `.data` have words.
    pub fn add(&mut self, name: &str, text: String) {
        match name.ends_with(".data") {
            true => {
                self.words.insert(name.to_owned(), text);
            }
            false => self.rules.push(RuleFile { name: name.to_owned(), text }),
        }
    }
}

impl Skip {
    /// Index of the rule that comes next behind the one at `index`.
    pub(crate) fn next(&self, index: usize, phase: usize, rules: &Ruleset) -> usize {
        match self {
            Skip::None => index + 1,
            Skip::Count(count) => index.saturating_add(1).saturating_add(*count),
            Skip::ToMarker(name) => rules.behind_marker(name, phase).max(index + 1),
        }
    }
}
