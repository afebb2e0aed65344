//! The values of one request, by where they come from.

use crate::budget::{InspectionBudget, TooMuchWork};
use crate::source::{Part, ValueSource};
use crate::transformation::Transformation;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A value under its name, and what transformations have made of it.
#[derive(Debug)]
pub(crate) struct NamedValue {
    pub(crate) name: Arc<[u8]>,
    pub(crate) value: Arc<[u8]>,
    transformed: Vec<(usize, Part, Arc<[u8]>)>,
}

/// All values of a request.
#[derive(Debug, Default)]
pub(crate) struct ValueStore {
    by_source: BTreeMap<ValueSource, Vec<NamedValue>>,
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
        budget.keep(name.len() + value.len())?;
        let value = NamedValue { name: name.into(), value: value.into(), transformed: Vec::new() };
        self.by_source.entry(source).or_default().push(value);
        Ok(())
    }

    /// Puts a value in the place of all others of the source.
    pub(crate) fn set(&mut self, source: ValueSource, value: &[u8]) {
        let value = NamedValue { name: Arc::default(), value: value.into(), transformed: Vec::new() };
        self.by_source.insert(source, vec![value]);
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

    /// Values of a source; a variable of `TX` is found by its name without looking at the others.
    pub(crate) fn of(&self, source: ValueSource, part: Part, named: Option<&str>) -> Vec<LookedAt> {
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
                None => self.variables.iter().map(made).collect(),
            };
        }
        let stays = !matches!(
            source,
            ValueSource::MatchedVar | ValueSource::MatchedVarName | ValueSource::MatchedVars | ValueSource::MatchedVarsNames
        );
        let values = self.by_source.get(&source).into_iter().flatten().enumerate();
        values
            .map(|(place, found)| LookedAt {
                source,
                part,
                name: found.name.clone(),
                value: if part == Part::Name { found.name.clone() } else { found.value.clone() },
                place: stays.then_some(place),
            })
            .collect()
    }

    /// How many values a source has.
    pub(crate) fn count(&self, source: ValueSource) -> usize {
        if source == ValueSource::Tx { self.variables.len() } else { self.by_source.get(&source).map_or(0, Vec::len) }
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
        let kept = looked.place.and_then(|place| self.by_source.get_mut(&looked.source).and_then(|values| values.get_mut(place)));
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
