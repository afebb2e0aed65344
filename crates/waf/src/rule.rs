//! Rules as the engine runs them, and how they are read from their directives.

use crate::operator::RuleOperator;
use crate::syntax;
use crate::text::MacroText;
use crate::transformation::Transformation;
use crate::value_class::{ClassSet, ValueClass};
use crate::variable::{RuleTarget, TargetList};
use std::ops::RangeInclusive;

/// A rule with the links of its chain.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: u32,
    pub(crate) phase: u8,
    /// The first is the rule itself; all must match.
    pub(crate) links: Vec<RuleLink>,
    pub(crate) verdict: Verdict,
    pub(crate) message: MacroText,
    /// As it is written.
    pub(crate) severity: String,
    pub(crate) tags: Vec<String>,
    pub(crate) is_logged: bool,
    pub(crate) skip: Skip,
}

/// What becomes of the request if the rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Only scores count.
    Pass,
    Deny,
    /// Nothing more is looked at: in this phase, or at all.
    AllowPhase,
    Allow,
}

/// Which rules are left out behind a match.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    None,
    /// So many.
    Count(usize),
    /// All up to a marker, by its name; its place once all rules are known.
    ToMarker(String),
}

#[derive(Debug)]
pub(crate) struct RuleLink {
    pub(crate) targets: TargetList,
    pub(crate) operator: RuleOperator,
    pub(crate) is_negated: bool,
    pub(crate) transformations: Vec<Transformation>,
    /// Stands for `transformations` in the whole set.
    pub(crate) pipeline: usize,
    /// Looks at the value after each transformation.
    pub(crate) is_multi_match: bool,
    pub(crate) captures: bool,
    pub(crate) effects: Vec<Effect>,
    /// Classes of values that never match, so that it need not look at them.
    pub(crate) blind: ClassSet,
}

impl RuleLink {
    fn never_matches(&self, class: ValueClass) -> bool {
        !self.is_negated && self.transformations.iter().all(|step| step.keeps_alphabets()) && self.operator.never_fits(class)
    }
}

/// What a match changes, besides the verdict.
#[derive(Debug)]
pub(crate) enum Effect {
    Set(MacroText, MacroText),
    /// Adds a number; the second is whether it is subtracted.
    Add(MacroText, MacroText, bool),
    Unset(MacroText),
    RemoveRules(RuleSelection),
    RemoveTarget(RuleSelection, RuleTarget),
    BodyProcessor(String),
    ForceBodyVariable,
    /// `ctl:ruleEngine=Off` or `DetectionOnly`.
    Engine {
        denies: bool,
        runs: bool,
    },
}

impl Effect {
    /// The variable that it sets, in lower case, if its name is written in the rule.
    pub(crate) fn sets(&self) -> Option<Vec<u8>> {
        match self {
            Effect::Set(MacroText::Literal(name), _) | Effect::Add(MacroText::Literal(name), ..) => Some(name.to_ascii_lowercase()),
            _ => None,
        }
    }
}

/// Rules by id or tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleSelection {
    /// Rules whose ids are in the range.
    Ids(RangeInclusive<u32>),
    /// Rules with exactly this tag.
    Tag(String),
}

impl RuleSelection {
    pub(crate) fn has(&self, id: u32, tags: &[String]) -> bool {
        match self {
            RuleSelection::Ids(range) => range.contains(&id),
            RuleSelection::Tag(tag) => tags.contains(tag),
        }
    }

    /// `942100` or `942100-942199`.
    pub fn ids(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        let id = |text: &str| text.trim().parse::<u32>().map_err(|_| format!("{text:?} is not the id of a rule"));
        Ok(RuleSelection::Ids(id(from)?..=id(to)?))
    }
}

/// A rule while it is read: whether the next one belongs to its chain.
pub(crate) struct ReadRule {
    pub(crate) rule: Rule,
    pub(crate) is_chained: bool,
    /// Whether `SecDefaultAction` decides about the verdict.
    pub(crate) blocks: bool,
}

/// Reads the arguments of `SecRule` or `SecAction`. `words` gives the text of a file beside the rules.
pub(crate) fn read(arguments: &[String], is_action: bool, words: &dyn Fn(&str) -> Option<String>) -> Result<ReadRule, String> {
    let (targets, operator, is_negated, actions) = match (is_action, arguments) {
        (true, [actions]) => (TargetList::default(), RuleOperator::Always, false, actions.as_str()),
        (false, [targets, operator, rest @ ..]) if rest.len() < 2 => {
            let (operator, is_negated) = read_operator(operator, words)?;
            (TargetList::read(targets)?, operator, is_negated, rest.first().map_or("", String::as_str))
        }
        _ => return Err("must have variables, an operator and actions".to_owned()),
    };
    let link = RuleLink {
        targets,
        operator,
        is_negated,
        transformations: Vec::new(),
        pipeline: 0,
        is_multi_match: false,
        captures: false,
        effects: Vec::new(),
        blind: ClassSet::default(),
    };
    let rule = Rule {
        id: 0,
        phase: 2,
        links: Vec::new(),
        verdict: Verdict::Pass,
        message: MacroText::Literal(Vec::new()),
        severity: String::new(),
        tags: Vec::new(),
        is_logged: true,
        skip: Skip::None,
    };
    let mut read = ReadRule { rule, is_chained: false, blocks: false };
    let mut link = link;
    for (name, value) in syntax::actions(actions) {
        read.apply(&mut link, &name, &value).map_err(|why| format!("{name}: {why}"))?;
    }
    link.blind = ClassSet::of(|class| link.never_matches(class));
    read.rule.links.push(link);
    Ok(read)
}

fn read_operator(text: &str, words: &dyn Fn(&str) -> Option<String>) -> Result<(RuleOperator, bool), String> {
    let text = text.trim_start();
    let (text, is_negated) = text.strip_prefix('!').map_or((text, false), |text| (text.trim_start(), true));
    let Some(named) = text.strip_prefix('@') else { return Ok((RuleOperator::compile("rx", text, words)?, is_negated)) };
    let (name, argument) = named.split_once(char::is_whitespace).unwrap_or((named, ""));
    Ok((RuleOperator::compile(name, argument.trim_start(), words)?, is_negated))
}

impl ReadRule {
    fn apply(&mut self, link: &mut RuleLink, name: &str, value: &str) -> Result<(), String> {
        let rule = &mut self.rule;
        match name {
            "id" => rule.id = value.parse().map_err(|_| format!("{value:?} is not a number"))?,
            "phase" => rule.phase = phase(value).ok_or_else(|| format!("{value:?} is not a phase"))?,
            "chain" => self.is_chained = true,
            "msg" => rule.message = MacroText::read(value)?,
            "severity" => rule.severity = severity(value).to_owned(),
            "tag" => rule.tags.push(value.to_owned()),
            "nolog" => rule.is_logged = false,
            "log" => rule.is_logged = true,
            "deny" | "drop" | "redirect" => rule.verdict = Verdict::Deny,
            "pass" => rule.verdict = Verdict::Pass,
            "block" => self.blocks = true,
            "allow" => rule.verdict = if value == "phase" { Verdict::AllowPhase } else { Verdict::Allow },
            "skip" => rule.skip = Skip::Count(value.parse().map_err(|_| format!("{value:?} is not a number"))?),
            "skipafter" => rule.skip = Skip::ToMarker(value.to_owned()),
            "t" if value.eq_ignore_ascii_case("none") => link.transformations.clear(),
            "t" => {
                let transformation = Transformation::named(value);
                link.transformations.push(transformation.ok_or_else(|| format!("{value} is not supported"))?);
            }
            "multimatch" => link.is_multi_match = true,
            "capture" => link.captures = true,
            "setvar" => link.effects.push(set_variable(value)?),
            "ctl" => link.effects.extend(control(value)?),
            // They concern logs, and statuses of refusals, which the gateway has its own way for.
            "logdata"
            | "ver"
            | "rev"
            | "maturity"
            | "accuracy"
            | "auditlog"
            | "noauditlog"
            | "status"
            | "initcol"
            | "expirevar"
            | "sanitisearg"
            | "sanitiserequestheader"
            | "sanitisematched"
            | "setenv" => {}
            _ => return Err("this action is not supported".to_owned()),
        }
        Ok(())
    }
}

fn phase(text: &str) -> Option<u8> {
    Some(match text {
        "1" => 1,
        "2" | "request" => 2,
        "3" => 3,
        "4" | "response" => 4,
        "5" | "logging" => 5,
        _ => return None,
    })
}

fn severity(text: &str) -> &str {
    const NAMES: [&str; 8] = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG"];
    text.parse::<usize>().ok().and_then(|number| NAMES.get(number)).copied().unwrap_or(text)
}

/// `tx.name=value`, `tx.name=+1`, `tx.name=-1`, `tx.name`, `!tx.name`.
fn set_variable(text: &str) -> Result<Effect, String> {
    let (text, is_unset) = text.strip_prefix('!').map_or((text, false), |text| (text, true));
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let Some(name) = name.get(..3).filter(|start| start.eq_ignore_ascii_case("tx.")).and_then(|_| name.get(3..)) else {
        return Err(format!("{name}: only variables of TX can be set"));
    };
    let name = MacroText::read(name)?;
    Ok(match value {
        _ if is_unset => Effect::Unset(name),
        None => Effect::Set(name, MacroText::Literal(b"1".to_vec())),
        Some(value) => match (value.strip_prefix('+'), value.strip_prefix('-')) {
            (Some(amount), _) => Effect::Add(name, MacroText::read(amount)?, false),
            (_, Some(amount)) => Effect::Add(name, MacroText::read(amount)?, true),
            _ => Effect::Set(name, MacroText::read(value)?),
        },
    })
}

fn control(text: &str) -> Result<Option<Effect>, String> {
    let (name, value) = text.split_once('=').ok_or("must be name=value")?;
    let target = || -> Result<(&str, RuleTarget), String> {
        let (rules, target) = value.split_once(';').ok_or("must name a variable after ;")?;
        Ok((rules, RuleTarget::read(target)?))
    };
    Ok(Some(match name.trim().to_ascii_lowercase().as_str() {
        "ruleremovebyid" => Effect::RemoveRules(RuleSelection::ids(value)?),
        "ruleremovebytag" => Effect::RemoveRules(RuleSelection::Tag(value.to_owned())),
        "ruleremovetargetbyid" => {
            target().and_then(|(rules, target)| Ok(Effect::RemoveTarget(RuleSelection::ids(rules)?, target)))?
        }
        "ruleremovetargetbytag" => {
            target().map(|(rules, target)| Effect::RemoveTarget(RuleSelection::Tag(rules.to_owned()), target))?
        }
        "requestbodyprocessor" => Effect::BodyProcessor(value.to_ascii_uppercase()),
        "forcerequestbodyvariable" if value.eq_ignore_ascii_case("on") => Effect::ForceBodyVariable,
        "ruleengine" => Effect::Engine { denies: value.eq_ignore_ascii_case("on"), runs: !value.eq_ignore_ascii_case("off") },
        // Whether bodies are read, and what is logged, is for the gateway to say.
        "auditengine" | "auditlogparts" | "requestbodyaccess" | "responsebodyaccess" | "forcerequestbodyvariable" => {
            return Ok(None);
        }
        other => return Err(format!("{other} is not supported")),
    }))
}
