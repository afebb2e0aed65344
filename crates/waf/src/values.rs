//! The values of one request and its response, by where they come from.

use crate::budget::{InspectionBudget, TooMuchWork};
use crate::source::{Part, ValueSource};
use crate::transformation::Transformation;
use crate::value_class::{CLASSES, ClassSet, ValueClass};
use crate::variable::Selector;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most bytes of a variable that is kept until the response has been inspected. Those of the Core Rule Set are numbers and lists of words.
const LASTING_BYTES_MAX: usize = 4 << 10;

/// A value under its name, and what transformations have made of it.
#[derive(Debug, Clone)]
pub(crate) struct NamedValue {
    pub(crate) name: Arc<[u8]>,
    pub(crate) value: Arc<[u8]>,
    transformed: Vec<(usize, Part, Arc<[u8]>)>,
    class: ValueClass,
    /// Whether rules about names look at it.
    has_own_name: bool,
}

impl NamedValue {
    fn new(name: &[u8], value: &[u8]) -> Self {
        let class = ValueClass::of(value);
        NamedValue { name: name.into(), value: value.into(), transformed: Vec::new(), class, has_own_name: true }
    }
}

/// The values of one source, and the places of those with each class.
#[derive(Debug, Clone, Default)]
struct ValueList {
    values: Vec<NamedValue>,
    by_class: [Vec<usize>; 4],
    /// Places of the values with names of their own.
    named: Vec<usize>,
}

impl ValueList {
    fn push(&mut self, value: NamedValue) {
        let place = self.values.len();
        if let Some(places) = self.by_class.get_mut(value.class as usize) {
            places.push(place);
        }
        if value.has_own_name {
            self.named.push(place);
        }
        self.values.push(value);
    }

    /// Places of what is looked at. Values come class by class.
    fn places(&self, part: Part, blind: ClassSet) -> impl Iterator<Item = usize> {
        let (named, sees_values) = match part {
            Part::Name => (self.named.as_slice(), false),
            Part::Value => (&[][..], true),
        };
        let seen = CLASSES.into_iter().chain([ValueClass::Other]).filter(move |class| sees_values && !blind.has(*class));
        let valued = seen.filter_map(|class| self.by_class.get(class as usize)).flatten();
        named.iter().chain(valued).copied()
    }
}

/// All values of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct ValueStore {
    by_source: BTreeMap<ValueSource, ValueList>,
    /// `TX`, by names in lower case.
    variables: BTreeMap<Vec<u8>, Arc<[u8]>>,
}

/// One value that an operator looks at.
#[derive(Debug, Clone)]
pub(crate) struct LookedAt {
    pub(crate) source: ValueSource,
    pub(crate) part: Part,
    pub(crate) name: Arc<[u8]>,
    pub(crate) value: Arc<[u8]>,
    /// Its place, where it stays as it is until the request has been inspected.
    place: Option<usize>,
}

impl LookedAt {
    /// A number of values.
    pub(crate) fn count(source: ValueSource, count: usize) -> Self {
        let value = count.to_string().into_bytes().into();
        LookedAt { source, part: Part::Value, name: Arc::default(), value, place: None }
    }

    /// Collection and name, such as `ARGS:q`.
    pub(crate) fn title(&self) -> String {
        let collection = self.source.title(self.part);
        match self.name.is_empty() {
            true => collection.to_owned(),
            false => format!("{collection}:{}", String::from_utf8_lossy(&self.name)),
        }
    }
}

impl ValueStore {
    /// Adds a value of the request.
    pub(crate) fn add(
        &mut self,
        source: ValueSource,
        name: &[u8],
        value: &[u8],
        budget: &mut InspectionBudget,
    ) -> Result<(), TooMuchWork> {
        self.push(source, NamedValue::new(name, value), budget)
    }

    /// The same for a value whose name differs from that of another only in places in lists: rules about names look at one of them.
    pub(crate) fn add_to_list(
        &mut self,
        source: ValueSource,
        name: &[u8],
        value: &[u8],
        budget: &mut InspectionBudget,
    ) -> Result<(), TooMuchWork> {
        self.push(source, NamedValue { has_own_name: false, ..NamedValue::new(name, value) }, budget)
    }

    fn push(&mut self, source: ValueSource, value: NamedValue, budget: &mut InspectionBudget) -> Result<(), TooMuchWork> {
        budget.keep(value.name.len() + value.value.len())?;
        self.by_source.entry(source).or_default().push(value);
        Ok(())
    }

    /// Puts a value in the place of all others of the source.
    pub(crate) fn set(&mut self, source: ValueSource, value: &[u8]) {
        let list = self.by_source.entry(source).or_default();
        *list = ValueList::default();
        list.push(NamedValue::new(b"", value));
    }

    /// Forgets the values of a source.
    pub(crate) fn clear(&mut self, source: ValueSource) {
        self.by_source.remove(&source);
    }

    pub(crate) fn variable(&self, name: &[u8]) -> Option<&Arc<[u8]>> {
        self.variables.get(&name.to_ascii_lowercase())
    }

    pub(crate) fn set_variable(&mut self, name: &[u8], value: Vec<u8>, budget: &mut InspectionBudget) -> Result<(), TooMuchWork> {
        budget.keep(name.len() + value.len())?;
        self.variables.insert(name.to_ascii_lowercase(), value.into());
        Ok(())
    }

    pub(crate) fn unset_variable(&mut self, name: &[u8]) {
        self.variables.remove(&name.to_ascii_lowercase());
    }

    /// Values of a source that the selector selects, without those of the classes in `blind`.
    pub(crate) fn of(&self, source: ValueSource, part: Part, selector: &Selector, blind: ClassSet) -> Vec<LookedAt> {
        let named = match selector {
            Selector::Named(name) => Some(name.as_str()),
            Selector::All | Selector::Matching(_) => None,
        };
        if source == ValueSource::Tx {
            let made = |(name, value): (&Vec<u8>, &Arc<[u8]>)| LookedAt {
                source,
                part,
                name: name.as_slice().into(),
                value: value.clone(),
                place: None,
            };
            return match named {
                Some(name) => self.variables.get_key_value(name.to_ascii_lowercase().as_bytes()).map(made).into_iter().collect(),
                None => self.variables.iter().map(made).filter(|looked| selector.fits(&looked.name)).collect(),
            };
        }
        let stays = !matches!(
            source,
            ValueSource::MatchedVar | ValueSource::MatchedVarName | ValueSource::MatchedVars | ValueSource::MatchedVarsNames
        );
        let Some(list) = self.by_source.get(&source) else { return Vec::new() };
        let values = list.places(part, blind).filter_map(|place| Some((place, list.values.get(place)?)));
        values
            .filter(|(_, found)| selector.fits(&found.name))
            .map(|(place, found)| LookedAt {
                source,
                part,
                name: found.name.clone(),
                value: if part == Part::Name { found.name.clone() } else { found.value.clone() },
                place: stays.then_some(place),
            })
            .collect()
    }

    /// Forgets all that a client could make large: values of the body, and variables but those that `lasts` names.
    pub(crate) fn forget_body(&mut self, lasts: impl Fn(&[u8]) -> bool) {
        self.by_source.retain(|source, _| !source.is_of_body());
        self.by_source.values_mut().flat_map(|list| &mut list.values).for_each(|value| value.transformed = Vec::new());
        self.variables.retain(|name, value| value.len() <= LASTING_BYTES_MAX && lasts(name));
    }

    /// The only value of a source.
    pub(crate) fn single(&self, source: ValueSource) -> Option<&Arc<[u8]>> {
        self.by_source.get(&source).and_then(|list| list.values.last()).map(|found| &found.value)
    }

    /// Names and values of a source, in their order.
    pub(crate) fn pairs(&self, source: ValueSource) -> impl Iterator<Item = (&[u8], &[u8])> {
        let values = self.by_source.get(&source).into_iter().flat_map(|list| &list.values);
        values.map(|found| (found.name.as_ref(), found.value.as_ref()))
    }

    /// How many values of a source `of` looks at before it selects.
    pub(crate) fn count(&self, source: ValueSource, part: Part, blind: ClassSet) -> usize {
        let Some(list) = self.by_source.get(&source) else {
            return if source == ValueSource::Tx { self.variables.len() } else { 0 };
        };
        match part {
            Part::Name => list.named.len(),
            Part::Value => {
                let blind = CLASSES.into_iter().filter(|class| blind.has(*class));
                let unseen: usize = blind.filter_map(|class| list.by_class.get(class as usize)).map(Vec::len).sum();
                list.values.len() - unseen
            }
        }
    }

    /// A value behind transformations, which are done once for all rules that have the same.
    pub(crate) fn transformed(
        &mut self,
        looked: &LookedAt,
        pipeline: usize,
        transformations: &[Transformation],
        budget: &mut InspectionBudget,
    ) -> Result<Arc<[u8]>, TooMuchWork> {
        if transformations.is_empty() {
            return Ok(looked.value.clone());
        }
        let kept =
            looked.place.and_then(|place| self.by_source.get_mut(&looked.source).and_then(|list| list.values.get_mut(place)));
        let Some(kept) = kept else { return transform(&looked.value, transformations, budget) };
        let known = kept.transformed.iter().find(|(of, part, _)| *of == pipeline && *part == looked.part);
        if let Some((.., made)) = known {
            return Ok(made.clone());
        }
        let made = transform(&looked.value, transformations, budget)?;
        // Without room it is made again the next time.
        if budget.keep(made.len()).is_ok() {
            kept.transformed.push((pipeline, looked.part, made.clone()));
        }
        Ok(made)
    }
}

fn transform(value: &Arc<[u8]>, steps: &[Transformation], budget: &mut InspectionBudget) -> Result<Arc<[u8]>, TooMuchWork> {
    let mut made = Cow::Borrowed(value.as_ref());
    for step in steps {
        budget.look(made.len(), 1)?;
        made = match step.apply(&made) {
            Cow::Borrowed(same) if same.len() == made.len() => continue,
            other => Cow::Owned(other.into_owned()),
        };
    }
    Ok(match made {
        Cow::Borrowed(_) => value.clone(),
        Cow::Owned(made) => made.into(),
    })
}
