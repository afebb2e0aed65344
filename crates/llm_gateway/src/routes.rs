//! Which models there are, and where their requests go.

use crate::figures::{LaneFigures, LlmFigures};
use crate::standing::Standing;
use crate::terms::{LlmTerms, TargetTerms};
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_pattern::Glob;

/// The ways of one API.
pub(crate) struct Routes {
    named: BTreeMap<String, Vec<Way>>,
    patterns: Vec<(Glob, String, Way)>,
}

/// One way to a model. Those of a pattern share one.
#[derive(Clone)]
pub(crate) struct Way {
    /// Index of the provider.
    pub provider: usize,
    /// The model's name there; `None` for the client's.
    pub model: Option<String>,
    pub weight: u32,
    /// Whether the provider wants no requests for this model.
    pub standing: Arc<Standing>,
    pub figures: Arc<LaneFigures>,
}

impl Routes {
    pub(crate) fn new(terms: &LlmTerms, figures: &LlmFigures) -> Self {
        let way = |name: &str, target: &TargetTerms, model: Option<String>| {
            let provider = terms.providers.get(target.provider).map_or("", |provider| provider.name.as_str());
            let (standing, figures) = (Arc::default(), figures.lane(name, provider));
            Way { provider: target.provider, model, weight: target.weight, standing, figures }
        };
        let named = terms.models.iter().map(|model| {
            let ways = model.targets.iter().map(|target| way(&model.name, target, Some(target.model.clone())));
            (model.name.clone(), ways.collect())
        });
        let patterns = terms.providers.iter().enumerate().flat_map(|(index, provider)| {
            let target = TargetTerms { provider: index, model: String::new(), weight: 0 };
            provider.patterns.iter().map(move |pattern| (Glob::new(pattern), pattern.clone(), way(pattern, &target, None)))
        });
        let routes = Routes { named: named.collect(), patterns: patterns.collect() };
        figures.forget_unused();
        routes
    }

    /// The ways to a model, in the order of fallback: its own, or those of all providers that serve its name.
    pub(crate) fn to(&self, model: &str) -> Option<Vec<Way>> {
        if let Some(ways) = self.named.get(model) {
            return Some(ways.clone());
        }
        let fitting = self.patterns.iter().filter(|(glob, _, _)| glob.is_match(model));
        let mut ways: Vec<Way> = Vec::new();
        for (_, _, way) in fitting {
            if ways.iter().all(|known| known.provider != way.provider) {
                ways.push(way.clone());
            }
        }
        (!ways.is_empty()).then_some(ways)
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

/// The ways in the order in which a request tries them: one by weight first, the others behind it in their order. `chance` is any number.
pub(crate) fn in_order(mut ways: Vec<Way>, chance: u64) -> Vec<Way> {
    let sum: u64 = ways.iter().map(|way| u64::from(way.weight)).sum();
    if sum == 0 {
        return ways;
    }
    let mut left = chance % sum;
    let first = ways.iter().position(|way| {
        let weight = u64::from(way.weight);
        let is_it = left < weight;
        left = left.saturating_sub(weight);
        is_it
    });
    if let Some(first) = first {
        let way = ways.remove(first);
        ways.insert(0, way);
    }
    ways
}

#[cfg(test)]
mod tests;
