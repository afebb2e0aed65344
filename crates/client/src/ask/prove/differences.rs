//! Differences of a proof in groups, as a replay has them.

use super::ProofRequest;
use super::comparison::ProofDifference;
use crate::visible;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Groups that are kept; requests of further ones are counted.
const GROUPS_MAX: usize = 1_000;
/// Examples of each.
const EXAMPLES_MAX: usize = 3;

/// Differences by API and aspect.
#[derive(Debug, Default)]
pub(super) struct Differences {
    requests: usize,
    different: usize,
    left_out: usize,
    groups: Vec<DifferenceGroup>,
    by_aspect: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct DifferenceGroup {
    api: String,
    first: ProofDifference,
    requests: usize,
    examples: Vec<Value>,
}

impl Differences {
    pub(super) fn add(&mut self, request: &ProofRequest, found: Vec<ProofDifference>) {
        self.requests += 1;
        self.different += usize::from(!found.is_empty());
        for difference in found {
            *self.by_aspect.entry(difference.aspect.clone()).or_default() += 1;
            // Statuses are told apart; other values are mostly as many as there are requests.
            let is_of = |group: &DifferenceGroup| {
                let (known, status) = (&group.first, difference.aspect == "status");
                let is_same = known.old == difference.old && known.new == difference.new;
                group.api == request.api && known.aspect == difference.aspect && (!status || is_same)
            };
            let example = json!({
                "method": request.method, "host": visible::line(&request.host), "path": visible::line(&request.path),
                "old": visible::line(&difference.old), "new": visible::line(&difference.new),
            });
            let is_full = self.groups.len() >= GROUPS_MAX;
            match self.groups.iter_mut().find(|group| is_of(group)) {
                Some(group) => {
                    group.requests += 1;
                    if group.examples.len() < EXAMPLES_MAX {
                        group.examples.push(example);
                    }
                }
                None if !is_full => self.groups.push(DifferenceGroup {
                    api: request.api.clone(),
                    first: difference,
                    requests: 1,
                    examples: vec![example],
                }),
                None => self.left_out += 1,
            }
        }
    }

    /// How many requests differ in what.
    pub(super) fn by_aspect(&self) -> Vec<(String, usize)> {
        self.by_aspect.iter().map(|(aspect, count)| (aspect.clone(), *count)).collect()
    }

    pub(super) fn to_json(&self) -> Value {
        let mut groups: Vec<&DifferenceGroup> = self.groups.iter().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.requests));
        let groups: Vec<Value> = groups
            .into_iter()
            .map(|group| {
                json!({
                    "api_id": visible::line(&group.api), "cause": group.first.aspect, "from": visible::line(&group.first.old),
                    "to": visible::line(&group.first.new), "requests": group.requests, "examples": group.examples,
                })
            })
            .collect();
        json!({
            "requests": self.requests, "same": self.requests - self.different, "different": self.different,
            "left_out": self.left_out, "groups": groups,
        })
    }
}
