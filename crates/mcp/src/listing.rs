//! Lists of what a server offers, without what a caller may not use. All bytes but those of the items that are taken out stay as they are.

use crate::envelope::{members, object, text};
use crate::events::EventParts;
use serde_json::value::RawValue;
use tollgate_model::session::PrimitiveKind;
use tollgate_text::byte_order_mark;

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
    /// It could be read in two ways, or not at all.
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

/// Takes out of a response what the caller may not see. What some reader may understand in another way is ambiguous, also what is no object.
pub fn filtered(body: &[u8], visible: &impl Visible) -> Filtered {
    let body = byte_order_mark::without(body);
    match cuts(body, visible) {
        None => Filtered::Ambiguous,
        Some(cuts) if cuts.is_empty() => Filtered::Unchanged,
        Some(cuts) => Filtered::Changed(spliced(body, cuts)),
    }
}

/// What is to be taken out; `None` if the body is ambiguous.
fn cuts<'a>(body: &'a [u8], visible: &impl Visible) -> Option<Vec<Cut<'a>>> {
    // Some readers take other bytes for something.
    if std::str::from_utf8(body).ok()?.trim_ascii().is_empty() {
        return Some(Vec::new());
    }
    let Some(result) = member_of(body, "result")? else { return Some(Vec::new()) };
    let names = &["tools", "prompts", "resourceTemplates", "resources", "capabilities"];
    // Texts and numbers show nothing.
    if !result.get().starts_with(['{', '[']) {
        return Some(Vec::new());
    }
    let read = members(result.get().as_bytes(), names).ok().filter(|read| !read.is_ambiguous)?;
    let [tools, prompts, templates, resources, capabilities] = read.values.map(|value| value.filter(|value| value.get() != "null"));
    let mut cuts = Vec::new();
    for (list, (_, name, kind)) in [tools, prompts, templates, resources].into_iter().zip(LISTS) {
        if let Some(list) = list.filter(|_| visible.filters(kind)) {
            cuts.extend(Cut::of_list(list, |item| named(item, name).is_some_and(|name| visible.shows(kind, &name)))?);
        }
    }
    if let Some(capabilities) = capabilities {
        cuts.extend(Cut::of_object(capabilities, |name| is_usable(name, visible))?);
    }
    Some(cuts)
}

/// A member of an object; the outer `None` if readers differ about it.
fn member_of<'a>(object: &'a [u8], name: &str) -> Option<Option<&'a RawValue>> {
    let read = members(object, &[name]).ok().filter(|read| !read.is_ambiguous)?;
    let [value] = read.values;
    Some(value)
}

/// The same for one event of a stream.
pub fn filtered_event(event: &[u8], visible: &impl Visible) -> Filtered {
    let Some(parts) = EventParts::read(event).filter(EventParts::is_message) else { return Filtered::Unchanged };
    match filtered(&parts.data, visible) {
        Filtered::Changed(data) => Filtered::Changed(parts.with_data(event, &data)),
        other => other,
    }
}

/// The name of an item; `None` if it has none that all readers agree about.
fn named(item: &RawValue, member: &str) -> Option<String> {
    text(member_of(item.get().as_bytes(), member)??).filter(|name| !name.is_empty())
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
    /// A list without some items, if there are such; the outer `None` if it is no list.
    fn of_list(list: &'a RawValue, keeps: impl Fn(&RawValue) -> bool) -> Option<Option<Self>> {
        let items: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
        let kept: Vec<&str> = items.iter().filter(|item| keeps(item)).map(|item| item.get()).collect();
        Some((kept.len() < items.len()).then(|| Cut { old: list, new: format!("[{}]", kept.join(",")).into_bytes() }))
    }

    /// An object without some members, if there are such; the outer `None` if it is no object.
    fn of_object(value: &'a RawValue, keeps: impl Fn(&str) -> bool) -> Option<Option<Self>> {
        let all = object(value.get().as_bytes())?;
        let quoted = |name: &str| serde_json::Value::from(name).to_string();
        let kept: Vec<_> = all.iter().filter(|(name, _)| keeps(name)).collect();
        let written: Vec<_> = kept.iter().map(|(name, value)| format!("{}:{}", quoted(name), value.get())).collect();
        Some((kept.len() < all.len()).then(|| Cut { old: value, new: format!("{{{}}}", written.join(",")).into_bytes() }))
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
