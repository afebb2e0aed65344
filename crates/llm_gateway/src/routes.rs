//! Which models there are, and where their requests go.

use crate::figures::{LaneFigures, LlmFigures};
use crate::system::system;
use crate::terms::{LlmTerms, Preference, TargetTerms};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_pattern::Glob;

/// The ways of one API.
pub(crate) struct Routes {
    named: BTreeMap<String, Ways<'static>>,
    patterns: Vec<(Glob, String, Way)>,
}

/// The ways to one model, in the order of the configuration.
#[derive(Clone)]
pub(crate) struct Ways<'a> {
    pub list: Cow<'a, [Way]>,
    pub preference: Preference,
}

/// One way to a model. Those of a pattern share one.
#[derive(Clone)]
pub(crate) struct Way {
    /// Index of the provider.
    pub provider: usize,
    /// The model's name there; `None` for the client's.
    pub model: Option<String>,
    pub weight: u32,
    pub priority: u32,
    pub figures: Arc<LaneFigures>,
}

impl Routes {
    pub(crate) fn new(terms: &LlmTerms, figures: &LlmFigures) -> Self {
        let way = |name: &str, target: &TargetTerms, model: Option<String>| {
            let provider = terms.providers.get(target.provider).map_or("", |provider| provider.name.as_str());
            let kind = terms.providers.get(target.provider).map_or("", |provider| system(&provider.provider));
            let figures = figures.lane(name, provider, kind);
            Way { provider: target.provider, model, weight: target.weight, priority: target.priority, figures }
        };
        let named = terms.models.iter().map(|model| {
            let ways = model.targets.iter().map(|target| way(&model.name, target, Some(target.model.clone())));
            (model.name.clone(), Ways { list: ways.collect(), preference: model.preference })
        });
        let patterns = terms.providers.iter().enumerate().flat_map(|(index, provider)| {
            let target = TargetTerms { provider: index, model: String::new(), weight: 0, priority: 0 };
            provider.patterns.iter().map(move |pattern| (Glob::new(pattern), pattern.clone(), way(pattern, &target, None)))
        });
        let routes = Routes { named: named.collect(), patterns: patterns.collect() };
        figures.forget_unused();
        routes
    }

    /// The ways to a model: its own, or those of all providers that serve its name.
    pub(crate) fn to(&self, model: &str) -> Option<Ways<'_>> {
        if let Some(ways) = self.named.get(model) {
            return Some(Ways { list: Cow::Borrowed(&ways.list), preference: ways.preference });
        }
        let fitting = self.patterns.iter().filter(|(glob, _, _)| glob.is_match(model));
        let mut ways: Vec<Way> = Vec::new();
        for (_, _, way) in fitting {
            if ways.iter().all(|known| known.provider != way.provider) {
                ways.push(way.clone());
            }
        }
        (!ways.is_empty()).then_some(Ways { list: Cow::Owned(ways), preference: Preference::Order })
    }

    /// The names that clients may write: models, and those that providers serve.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.named.keys().map(String::as_str).collect();
        for (_, pattern, _) in &self.patterns {
            if !names.contains(&pattern.as_str()) {
                names.push(pattern);
            }
        }
        names
    }
}
