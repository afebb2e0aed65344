//! Lists of what a server offers, without what a caller may not use. All bytes but those of the items that are taken out stay as they are.

use crate::envelope::{members, object, text};
use crate::events::EventParts;
use serde_json::value::RawValue;
use tollgate_model::session::PrimitiveKind;

/// What a caller may see.
pub trait Visible {
    /// Whether there are rules for primitives of this kind.
    fn filters(&self, kind: PrimitiveKind) -> bool;

    /// Whether one may be used.
    fn shows(&self, kind: PrimitiveKind, name: &str) -> bool;

    /// Whether a method may be called.
    fn allows(&self, method: &str) -> bool;
}

/// What has become of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filtered {
    /// It shows nothing that it must not show.
    Unchanged,
    /// What is left of it.
    Changed(Vec<u8>),
    /// It could be read in two ways.
    Ambiguous,
}

/// The lists: the member of the result, the member of an item that names it, and what the items are.
const LISTS: [(&str, &str, PrimitiveKind); 4] = [
    ("tools", "name", PrimitiveKind::Tool),
    ("prompts", "name", PrimitiveKind::Prompt),
    ("resourceTemplates", "uriTemplate", PrimitiveKind::Resource),
    ("resources", "uri", PrimitiveKind::Resource),
];

/// The capabilities that `initialize` tells, each with the methods that it stands for. As in Tyk, one forbidden method takes it out.
const CAPABILITIES: [(&str, &[&str]); 4] = [
    ("tools", &["tools/list", "tools/call"]),
    ("resources", &["resources/list", "resources/templates/list", "resources/read"]),
    ("prompts", &["prompts/list", "prompts/get"]),
    ("sampling", &["sampling/create"]),
];

/// Takes out of a response what the caller may not see.
pub fn filtered(body: &[u8], visible: &impl Visible) -> Filtered {
    let Ok(envelope) = members(body, &["result"]) else { return Filtered::Unchanged };
    if envelope.is_ambiguous {
        return Filtered::Ambiguous;
    }
    let [Some(result)] = envelope.values else { return Filtered::Unchanged };
    let names = &["tools", "prompts", "resourceTemplates", "resources", "capabilities"];
    let Ok(read) = members(result.get().as_bytes(), names) else { return Filtered::Unchanged };
    if read.is_ambiguous {
        return Filtered::Ambiguous;
    }
    let [tools, prompts, templates, resources, capabilities] = read.values;
    let lists = [tools, prompts, templates, resources];
    let cuts: Vec<Cut<'_>> = lists
        .iter()
        .zip(LISTS)
        .filter(|(_, (_, _, kind))| visible.filters(*kind))
        .filter_map(|(list, (_, name, kind))| Some(((*list)?, name, kind)))
        .filter_map(|(list, name, kind)| {
            Cut::of_list(list, |item| named(item, name).is_some_and(|name| visible.shows(kind, &name)))
        })
        .chain(capabilities.and_then(|capabilities| Cut::of_object(capabilities, |name| is_usable(name, visible))))
        .collect();
    if cuts.is_empty() { Filtered::Unchanged } else { Filtered::Changed(spliced(body, cuts)) }
}

/// The same for one event of a stream.
pub fn filtered_event(event: &[u8], visible: &impl Visible) -> Filtered {
    let Some(parts) = EventParts::read(event).filter(EventParts::is_message) else { return Filtered::Unchanged };
    // Most events are no results.
    if memchr::memmem::find(&parts.data, b"result").is_none() && memchr::memchr(b'\\', &parts.data).is_none() {
        return Filtered::Unchanged;
    }
    match filtered(&parts.data, visible) {
        Filtered::Changed(data) => Filtered::Changed(parts.with_data(event, &data)),
        other => other,
    }
}

/// The name of an item; `None` if it has none that all readers agree about.
fn named(item: &RawValue, member: &str) -> Option<String> {
    let read = members(item.get().as_bytes(), &[member]).ok()?;
    let [value] = read.values;
    text(value?).filter(|name| !name.is_empty() && !read.is_ambiguous)
}

fn is_usable(capability: &str, visible: &impl Visible) -> bool {
    let methods = CAPABILITIES.iter().find(|(name, _)| *name == capability).map_or(&[][..], |(_, methods)| methods);
    methods.iter().all(|method| visible.allows(method))
}

/// A value in a body, and what takes its place.
struct Cut<'a> {
    old: &'a RawValue,
    new: Vec<u8>,
}

impl<'a> Cut<'a> {
    /// A list without some items; `None` if none is taken out, or it is no list.
    fn of_list(list: &'a RawValue, keeps: impl Fn(&RawValue) -> bool) -> Option<Self> {
        let items: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
        let kept: Vec<&str> = items.iter().filter(|item| keeps(item)).map(|item| item.get()).collect();
        (kept.len() < items.len()).then(|| Cut { old: list, new: format!("[{}]", kept.join(",")).into_bytes() })
    }

    /// An object without some members.
    fn of_object(value: &'a RawValue, keeps: impl Fn(&str) -> bool) -> Option<Self> {
        let all = object(value.get().as_bytes())?;
        let quoted = |name: &str| serde_json::Value::from(name).to_string();
        let kept: Vec<_> = all.iter().filter(|(name, _)| keeps(name)).collect();
        let written: Vec<_> = kept.iter().map(|(name, value)| format!("{}:{}", quoted(name), value.get())).collect();
        (kept.len() < all.len()).then(|| Cut { old: value, new: format!("{{{}}}", written.join(",")).into_bytes() })
    }
}

/// A body with other values in the places of those that were read from it.
fn spliced(body: &[u8], mut cuts: Vec<Cut<'_>>) -> Vec<u8> {
    let start_of = |cut: &Cut<'_>| (cut.old.get().as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
    cuts.sort_by_key(start_of);
    let mut made = Vec::with_capacity(body.len());
    let mut from = 0;
    for cut in &cuts {
        made.extend_from_slice(body.get(from..start_of(cut)).unwrap_or_default());
        made.extend_from_slice(&cut.new);
        from = start_of(cut) + cut.old.get().len();
    }
    made.extend_from_slice(body.get(from..).unwrap_or_default());
    made
}

#[cfg(test)]
mod tests;
