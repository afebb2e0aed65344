//! Documents against the quick form.

use super::{AllowedValues, Judgement, KnownMember, MemberRules, NumberRules, QuickId, QuickNode, QuickSchema, TypeSet};
use crate::tree::JsonTree;
use serde_json::{Number, Value};
use std::borrow::Cow;

impl Judgement {
    fn of(is_valid: bool) -> Self {
        if is_valid { Judgement::Valid } else { Judgement::Invalid }
    }

    /// What both say together. One mismatch is enough, whatever else is unsure.
    fn and(self, other: impl FnOnce() -> Judgement) -> Self {
        match self {
            Judgement::Valid => other(),
            Judgement::Invalid => Judgement::Invalid,
            Judgement::Unsure if other() == Judgement::Invalid => Judgement::Invalid,
            Judgement::Unsure => Judgement::Unsure,
        }
    }
}

/// What all say together.
fn all(judgements: impl Iterator<Item = Judgement>) -> Judgement {
    let mut whole = Judgement::Valid;
    for judgement in judgements {
        match judgement {
            Judgement::Valid => {}
            Judgement::Invalid => return Judgement::Invalid,
            Judgement::Unsure => whole = Judgement::Unsure,
        }
    }
    whole
}

impl QuickSchema {
    /// Whether a document matches.
    pub fn judge(&self, document: &JsonTree<'_>) -> Judgement {
        self.value(self.root, document)
    }

    fn value(&self, id: QuickId, value: &JsonTree<'_>) -> Judgement {
        let Some(node) = self.nodes.get(id.0) else { return Judgement::Unsure };
        let own = if node.is_never { Judgement::Invalid } else { self.own(node, value) };
        if node.all_of.is_empty() && node.any_of.is_empty() && node.one_of.is_empty() {
            return own;
        }
        own.and(|| all(node.all_of.iter().map(|id| self.value(*id, value))))
            .and(|| all(node.any_of.iter().map(|list| self.any_of(list, value))))
            .and(|| all(node.one_of.iter().map(|list| self.one_of(list, value))))
    }

    fn any_of(&self, list: &[QuickId], value: &JsonTree<'_>) -> Judgement {
        let mut whole = Judgement::Invalid;
        for id in list {
            match self.value(*id, value) {
                Judgement::Valid => return Judgement::Valid,
                Judgement::Invalid => {}
                Judgement::Unsure => whole = Judgement::Unsure,
            }
        }
        whole
    }

    fn one_of(&self, list: &[QuickId], value: &JsonTree<'_>) -> Judgement {
        let (mut valid, mut unsure) = (0_usize, 0_usize);
        for id in list {
            match self.value(*id, value) {
                Judgement::Valid => valid += 1,
                Judgement::Invalid => {}
                Judgement::Unsure => unsure += 1,
            }
        }
        match (valid, unsure) {
            (2.., _) => Judgement::Invalid,
            (_, 1..) => Judgement::Unsure,
            (valid, 0) => Judgement::of(valid == 1),
        }
    }

    /// The keywords of the node itself.
    fn own(&self, node: &QuickNode, value: &JsonTree<'_>) -> Judgement {
        match value {
            JsonTree::Null => Judgement::of(node.types.has(TypeSet::NULL) && node.allowed.iter().all(|allowed| allowed.null)),
            JsonTree::Bool(truth) => {
                let has = |allowed: &AllowedValues| allowed.bools.get(usize::from(*truth)) == Some(&true);
                Judgement::of(node.types.has(TypeSet::BOOLEAN) && node.allowed.iter().all(has))
            }
            JsonTree::Number(number) => node.number(number),
            JsonTree::Text(text) => Judgement::of(node.takes_text(text)),
            JsonTree::Items(items) => {
                if !node.types.has(TypeSet::ARRAY) || !node.allowed.is_empty() {
                    return Judgement::Invalid;
                }
                let rules = &node.items;
                if !is_within(items.len(), rules.count_min, rules.count_max) {
                    return Judgement::Invalid;
                }
                rules.each.map_or(Judgement::Valid, |each| all(items.iter().map(|item| self.value(each, item))))
            }
            JsonTree::Members(members) => {
                if !node.types.has(TypeSet::OBJECT) || !node.allowed.is_empty() {
                    return Judgement::Invalid;
                }
                node.members.as_deref().map_or(Judgement::Valid, |rules| self.members(rules, members))
            }
        }
    }

    fn members(&self, rules: &MemberRules, members: &[(Cow<'_, str>, JsonTree<'_>)]) -> Judgement {
        if !is_within(members.len(), rules.count_min, rules.count_max) {
            return Judgement::Invalid;
        }
        let mut required = 0;
        let mut expected = 0;
        let mut whole = Judgement::Valid;
        for (name, value) in members {
            let schema = match rules.find(name, expected) {
                Some((index, known)) => {
                    expected = index + 1;
                    required += usize::from(index < rules.required);
                    if known.is_other { rules.others } else { known.schema }
                }
                None => rules.others,
            };
            match schema.map_or(Judgement::Valid, |schema| self.value(schema, value)) {
                Judgement::Valid => {}
                Judgement::Invalid => return Judgement::Invalid,
                Judgement::Unsure => whole = Judgement::Unsure,
            }
        }
        // No name occurs twice.
        if required < rules.required { Judgement::Invalid } else { whole }
    }
}

impl MemberRules {
    /// The known member of a name. Documents often have the order of their schema, so that it is the expected one.
    fn find(&self, name: &str, expected: usize) -> Option<(usize, &KnownMember)> {
        if let Some(known) = self.known.get(expected).filter(|known| *known.name == *name) {
            return Some((expected, known));
        }
        let found = *self.places.get(name)?;
        Some((found, self.known.get(found)?))
    }
}

impl QuickNode {
    fn number(&self, number: &Number) -> Judgement {
        let is_float = number.is_f64();
        if !self.types.has(TypeSet::NUMBER) {
            if !self.types.has(TypeSet::INTEGER) {
                return Judgement::Invalid;
            }
            // 1.0 is an integer, too.
            if is_float {
                return Judgement::Unsure;
            }
        }
        let value = || Value::Number(number.clone());
        let has = |allowed: &AllowedValues| allowed.numbers.as_ref().is_some_and(|numbers| numbers.is_valid(&value()));
        let keeps = |rules: &NumberRules| match (&rules.whole, number.as_i64()) {
            (Some(range), Some(number)) => range.min.is_none_or(|min| number >= min) && range.max.is_none_or(|max| number <= max),
            _ => rules.all.is_valid(&value()),
        };
        Judgement::of(self.allowed.iter().all(has) && self.number.as_ref().is_none_or(keeps))
    }

    fn takes_text(&self, text: &str) -> bool {
        let rules = &self.text;
        if !self.types.has(TypeSet::STRING) || !self.allowed.iter().all(|allowed| allowed.texts.iter().any(|known| known == text)) {
            return false;
        }
        let bounded = rules.chars_min.is_some() || rules.chars_max.is_some();
        (!bounded || is_within(text.chars().count(), rules.chars_min, rules.chars_max))
            && rules.more.as_ref().is_none_or(|more| more.is_valid(&Value::from(text)))
    }
}

fn is_within(count: usize, min: Option<u64>, max: Option<u64>) -> bool {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max)
}
