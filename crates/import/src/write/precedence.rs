//! The order of routes. Here a longer expression comes before a shorter one, whatever `precedence` says, and all of them before the prefix `/`: an
//! expression that must come first is made longer by groups that fit nothing.

use crate::pattern::escaped;
use crate::plan::{Plan, PlannedMatch, PlannedPath};
use std::cmp::Reverse;

/// A group that fits the empty text.
const NOTHING: &str = "(?:)";

/// Writes paths so that their order is that of the plan.
pub(super) fn settle(plan: &mut Plan) {
    let mut order: Vec<usize> = (0..plan.routes.len()).collect();
    order.sort_by_key(|index| Reverse(plan.routes.get(*index).map(|route| route.precedence)));
    let mut least: Option<(usize, Conditions)> = None;
    for index in order {
        let Some(route) = plan.routes.get_mut(index) else { continue };
        if route.matches.is_empty() {
            route.matches.push(PlannedMatch::default());
        }
        let before = least;
        for matched in &mut route.matches {
            let is_everything = match &matched.path {
                PlannedPath::Any => true,
                PlannedPath::Begins(path) => path == "/",
                PlannedPath::Exact(_) | PlannedPath::Pattern(_) => false,
            };
            let mut pattern = match &matched.path {
                PlannedPath::Exact(_) => continue,
                // Nothing with an expression comes behind it.
                _ if is_everything && before.is_none() => continue,
                _ if is_everything => ".*".to_owned(),
                PlannedPath::Begins(path) => format!("{}.*", escaped(path)),
                PlannedPath::Pattern(pattern) => pattern.clone(),
                PlannedPath::Any => ".*".to_owned(),
            };
            let conditions = conditions(matched);
            while before.is_some_and(|(length, known)| pattern.len() < length || (pattern.len() == length && conditions < known)) {
                pattern.push_str(NOTHING);
            }
            let rank = (pattern.len(), conditions);
            least = Some(least.map_or(rank, |known| known.max(rank)));
            matched.path = PlannedPath::Pattern(pattern);
        }
    }
}

/// What counts after the path.
type Conditions = (bool, usize, usize);

fn conditions(matched: &PlannedMatch) -> Conditions {
    (!matched.method.is_empty(), matched.headers.len(), matched.query.len())
}
