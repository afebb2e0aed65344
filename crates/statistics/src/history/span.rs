//! A part of the history that somebody asked for: summed over gateways and over longer steps, and written as columns.

use super::{APIS_MAX, SLOTS, STEP_S};
use crate::figures::{COUNTS, Count, Figures, PERCENTILES};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use tollgate_model::distribution::{OWN_NS, REQUEST_NS};

/// Bytes of all columns of one answer; APIs that do not fit are left out and counted.
const COLUMN_BYTES_MAX: usize = (2 << 20) - (64 << 10);

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanQuestion {
    /// Nothing before this time.
    pub from_unix_s: u64,
    /// The end.
    pub to_unix_s: u64,
    /// Seconds per element: a multiple of [`STEP_S`].
    pub step_s: u64,
    /// Only this API, beside the totals.
    pub api: Option<String>,
    /// APIs at most.
    pub apis_max: usize,
}

/// The columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HistorySpan {
    question: SpanQuestion,
    first_slot: u64,
    slots_per_step: u64,
    totals: Vec<Option<Figures>>,
    /// Figures by API; a missing element is 0 if `complete` says that all APIs are known there.
    apis: HashMap<String, HashMap<usize, Figures>>,
    complete: Vec<bool>,
}

impl HistorySpan {
    /// An empty span.
    pub fn new(question: SpanQuestion) -> Self {
        let slots_per_step = (question.step_s / STEP_S).max(1);
        let align = |slot: u64| slot / slots_per_step * slots_per_step;
        let end = (question.to_unix_s / STEP_S).max(1);
        let oldest = end.saturating_sub(SLOTS as u64);
        let first_slot = align((question.from_unix_s.div_ceil(STEP_S)).clamp(oldest, end));
        let steps = usize::try_from((end - first_slot).div_ceil(slots_per_step)).unwrap_or(SLOTS).min(SLOTS + 1);
        HistorySpan {
            question,
            first_slot,
            slots_per_step,
            totals: vec![None; steps],
            apis: HashMap::new(),
            complete: vec![true; steps],
        }
    }

    /// The element that a slot belongs to.
    pub(super) fn place(&self, slot: u64) -> Option<usize> {
        let place = usize::try_from(slot.checked_sub(self.first_slot)? / self.slots_per_step).ok()?;
        (place < self.totals.len()).then_some(place)
    }

    pub(super) fn add_totals(&mut self, place: usize, totals: &Figures) {
        if let Some(element) = self.totals.get_mut(place) {
            match element {
                Some(own) => own.extend(totals),
                None => *element = Some(totals.clone()),
            }
        }
    }

    pub(super) fn add_api(&mut self, place: usize, name: &str, figures: &Figures) {
        if self.question.api.as_ref().is_some_and(|api| api != name) {
            return;
        }
        if !self.apis.contains_key(name) {
            self.apis.insert(name.to_owned(), HashMap::new());
        }
        if let Some(own) = self.apis.get_mut(name) {
            own.entry(place).or_default().extend(figures);
        }
    }

    pub(super) fn end_sample(&mut self, place: usize, is_complete: bool, _apis: usize) {
        self.complete.get_mut(place).into_iter().for_each(|complete| *complete &= is_complete);
    }

    /// Adds the same span of another gateway.
    pub fn merge(&mut self, other: HistorySpan) {
        if other.first_slot != self.first_slot || other.slots_per_step != self.slots_per_step {
            return;
        }
        for (own, more) in self.totals.iter_mut().zip(other.totals) {
            match (own.as_mut(), more) {
                (Some(own), Some(more)) => own.add(&more),
                (None, more) => *own = more,
                (Some(_), None) => {}
            }
        }
        for (own, more) in self.complete.iter_mut().zip(other.complete) {
            *own &= more;
        }
        for (name, elements) in other.apis {
            let own = self.apis.entry(name).or_default();
            for (place, figures) in elements {
                own.entry(place).or_default().add(&figures);
            }
        }
    }

    /// The columns as JSON. `name` gives an API's name.
    pub fn to_json(&self, name: impl Fn(&str) -> String) -> Value {
        let mut order: Vec<(&String, u64)> = self
            .apis
            .iter()
            .map(|(api, elements)| (api, elements.values().map(|figures| figures.count(Count::Requests)).sum()))
            .collect();
        order.sort_by(|(a_name, a), (b_name, b)| b.cmp(a).then_with(|| a_name.cmp(b_name)));
        let mut room = COLUMN_BYTES_MAX;
        let totals = columns(self.totals.len(), |place| self.totals.get(place).and_then(Option::as_ref).cloned());
        room = room.saturating_sub(totals.to_string().len());
        let mut apis = Vec::new();
        let apis_max = self.question.apis_max.min(APIS_MAX);
        let mut left_out = order.len().saturating_sub(apis_max);
        for (api, _) in order.into_iter().take(apis_max) {
            let Some(elements) = self.apis.get(api) else { continue };
            let mut made = columns(self.totals.len(), |place| self.element(elements, place));
            if let Value::Object(members) = &mut made {
                members.insert("api_id".to_owned(), api.clone().into());
                members.insert("name".to_owned(), name(api).into());
            }
            let bytes = made.to_string().len();
            if bytes > room {
                left_out += 1;
                continue;
            }
            room -= bytes;
            apis.push(made);
        }
        let us = |bounds: &[u64]| bounds.iter().map(|ns| ns / 1_000).collect::<Vec<_>>();
        json!({
            "from_unix_s": self.first_slot * STEP_S,
            "step_s": self.slots_per_step * STEP_S,
            "samples": self.totals.len(),
            "upstream_bounds_us": us(&REQUEST_NS),
            "gateway_bounds_us": us(&OWN_NS),
            "totals": totals,
            "apis": apis,
            "apis_left_out": left_out,
        })
    }

    fn element(&self, elements: &HashMap<usize, Figures>, place: usize) -> Option<Figures> {
        self.totals.get(place)?.as_ref()?;
        match elements.get(&place) {
            Some(figures) => Some(figures.clone()),
            None => self.complete.get(place).copied().unwrap_or_default().then(Figures::default),
        }
    }
}

/// One array per count and percentile; `null` where there are no figures.
fn columns(length: usize, element: impl Fn(usize) -> Option<Figures>) -> Value {
    let mut counts: Vec<Vec<Value>> = COUNTS.iter().map(|_| Vec::with_capacity(length)).collect();
    let mut percentiles: Vec<Vec<Value>> = PERCENTILES.iter().map(|_| Vec::with_capacity(length)).collect();
    for place in 0..length {
        let figures = element(place);
        for (index, column) in counts.iter_mut().enumerate() {
            column
                .push(figures.as_ref().and_then(|figures| figures.counts.get(index)).map_or(Value::Null, |count| (*count).into()));
        }
        let values = figures.map_or([None; 6], |figures| figures.percentiles_us());
        for (column, value) in percentiles.iter_mut().zip(values) {
            column.push(value.map_or(Value::Null, Value::from));
        }
    }
    let named = COUNTS.iter().zip(counts).chain(PERCENTILES.iter().zip(percentiles));
    Value::Object(named.map(|(name, column)| ((*name).to_owned(), Value::Array(column))).collect())
}

impl Figures {
    /// The figures of one interval as JSON.
    pub fn to_json(&self) -> serde_json::Map<String, Value> {
        let counts = COUNTS.iter().zip(self.counts).map(|(name, count)| ((*name).to_owned(), count.into()));
        let percentiles = PERCENTILES.iter().zip(self.percentiles_us());
        counts.chain(percentiles.map(|(name, value)| ((*name).to_owned(), value.map_or(Value::Null, Value::from)))).collect()
    }
}
