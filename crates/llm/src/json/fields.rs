//! A client's object, read member by member: every member is either taken or named in a refusal.

use super::node::{JsonNode, JsonObject};
use crate::form::Unsupported;
use std::borrow::Cow;
use std::collections::HashSet;

/// The members of an object that nobody has taken yet. A member that is `null` is as absent.
pub(crate) struct Fields<'a> {
    path: String,
    /// Whether names have underscores or capitals between their words, as Google's servers read them. Here all have capitals.
    is_google: bool,
    left: Vec<(Cow<'a, str>, JsonNode<'a>)>,
}

impl<'a> Fields<'a> {
    /// Reads a client's document.
    pub(crate) fn of_body(body: &'a [u8], bytes_max: usize) -> Result<Self, Unsupported> {
        let node = JsonNode::read(body, bytes_max).map_err(|why| Unsupported::new("", why))?;
        Fields::of(node, String::new())
    }

    /// Reads a document of Google's API, whose members have names in two spellings.
    pub(crate) fn of_google_body(body: &'a [u8], bytes_max: usize) -> Result<Self, Unsupported> {
        let node = JsonNode::read(body, bytes_max).map_err(|why| Unsupported::new("", why))?;
        Fields::of_google(node, String::new())
    }

    /// Reads an object of such a document.
    pub(crate) fn of_google(node: JsonNode<'a>, path: String) -> Result<Self, Unsupported> {
        Fields::spelled(node, path, true)
    }

    /// Reads an object at a path.
    pub(crate) fn of(node: JsonNode<'a>, path: String) -> Result<Self, Unsupported> {
        Fields::spelled(node, path, false)
    }

    fn spelled(node: JsonNode<'a>, path: String, is_google: bool) -> Result<Self, Unsupported> {
        match node.object() {
            Some(object) => {
                let mut left = object.members();
                if is_google {
                    left.iter_mut().for_each(|(name, _)| *name = capitals(std::mem::take(name)));
                }
                let fields = Fields { path, is_google, left };
                let mut names = HashSet::new();
                match fields.left.iter().find(|(name, _)| !names.insert(name)) {
                    Some((name, _)) => fields.refuse(name, "is there twice"),
                    None => Ok(fields),
                }
            }
            None => Err(Unsupported::new(path, "must be an object")),
        }
    }

    /// The path of a member.
    pub(crate) fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// A refusal of a member.
    pub(crate) fn refuse<T>(&self, name: &str, why: impl Into<String>) -> Result<T, Unsupported> {
        Err(Unsupported::new(self.path(name), why))
    }

    /// Takes a member as it is.
    pub(crate) fn take(&mut self, name: &str) -> Option<JsonNode<'a>> {
        let at = self.left.iter().position(|(member, _)| member == name)?;
        Some(self.left.remove(at).1).filter(|node| !node.is_null())
    }

    /// All members that are left.
    pub(crate) fn left(self) -> Vec<(Cow<'a, str>, JsonNode<'a>)> {
        self.left
    }

    /// The names of those.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.left.iter().map(|(name, _)| name.as_ref())
    }

    /// Leaves out members that change nothing of the answer.
    pub(crate) fn drop_all(&mut self, names: &[&str]) {
        for name in names {
            let _ = self.take(name);
        }
    }

    fn typed<T>(&mut self, name: &str, what: &str, read: impl FnOnce(JsonNode<'a>) -> Option<T>) -> Result<Option<T>, Unsupported> {
        match self.take(name) {
            None => Ok(None),
            Some(node) => read(node).map_or_else(|| self.refuse(name, format!("must be {what}")), |value| Ok(Some(value))),
        }
    }

    /// A string.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Unsupported> {
        self.typed(name, "a string", |node| node.text().map(Cow::into_owned))
    }

    /// A string that must be there.
    pub(crate) fn needed_text(&mut self, name: &str) -> Result<String, Unsupported> {
        self.text(name)?.map_or_else(|| self.refuse(name, "is missing"), Ok)
    }

    /// A number without fraction and sign.
    pub(crate) fn whole(&mut self, name: &str) -> Result<Option<u64>, Unsupported> {
        self.typed(name, "a number without fraction and sign", JsonNode::whole)
    }

    /// A number without fraction.
    pub(crate) fn integer(&mut self, name: &str) -> Result<Option<i64>, Unsupported> {
        self.typed(name, "a number without fraction", JsonNode::integer)
    }

    /// A number.
    pub(crate) fn number(&mut self, name: &str) -> Result<Option<f64>, Unsupported> {
        self.typed(name, "a number", JsonNode::number)
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, Unsupported> {
        self.typed(name, "true or false", JsonNode::flag)
    }

    /// The text of an object, for others to read.
    pub(crate) fn raw_object(&mut self, name: &str) -> Result<Option<String>, Unsupported> {
        self.typed(name, "an object", |node| node.is_object().then(|| node.raw().to_owned()))
    }

    /// An object.
    pub(crate) fn object(&mut self, name: &str) -> Result<Option<Fields<'a>>, Unsupported> {
        let path = self.path(name);
        self.take(name).map(|node| Fields::spelled(node, path, self.is_google)).transpose()
    }

    /// An object that must be there.
    pub(crate) fn needed_object(&mut self, name: &str) -> Result<Fields<'a>, Unsupported> {
        self.object(name)?.map_or_else(|| self.refuse(name, "is missing"), Ok)
    }

    /// An array's items, each with its path.
    pub(crate) fn items(&mut self, name: &str) -> Result<Option<Vec<(JsonNode<'a>, String)>>, Unsupported> {
        let path = self.path(name);
        let items = self.typed(name, "an array", JsonNode::items)?;
        Ok(items.map(|items| items.into_iter().enumerate().map(|(at, item)| (item, format!("{path}[{at}]"))).collect()))
    }

    /// An array of objects; empty if there is none.
    pub(crate) fn objects(&mut self, name: &str) -> Result<Vec<Fields<'a>>, Unsupported> {
        let items = self.items(name)?.unwrap_or_default().into_iter();
        items.map(|(item, path)| Fields::spelled(item, path, self.is_google)).collect()
    }

    /// The same, where one object may stand for an array of it.
    pub(crate) fn one_or_more(&mut self, name: &str) -> Result<Vec<Fields<'a>>, Unsupported> {
        let is_one = self.left.iter().any(|(member, node)| member == name && node.is_object());
        if is_one { Ok(self.object(name)?.into_iter().collect()) } else { self.objects(name) }
    }

    /// Strings: one, or an array of them.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>, Unsupported> {
        self.typed(name, "a string or an array of strings", |node| {
            if let Some(text) = node.text() {
                return Some(vec![text.into_owned()]);
            }
            node.items()?.into_iter().map(|item| item.text().map(Cow::into_owned)).collect()
        })
        .map(Option::unwrap_or_default)
    }

    /// Refuses what is left.
    pub(crate) fn done(self) -> Result<(), Unsupported> {
        match self.left.iter().find(|(_, node)| !node.is_null()) {
            None => Ok(()),
            Some((name, _)) => self.refuse(name, "has no counterpart at the provider of this model"),
        }
    }

    /// Members that have no counterpart, unless they have the value that means nothing.
    pub(crate) fn only(&mut self, name: &str, neutral: &[&str]) -> Result<(), Unsupported> {
        match self.take(name) {
            Some(node) if !neutral.contains(&node.raw()) => self.refuse(
                name,
                format!("has no counterpart at the provider of this model; only {} is accepted", neutral.join(" or ")),
            ),
            _ => Ok(()),
        }
    }
}

/// A name with capitals in the place of underscores.
fn capitals(name: Cow<'_, str>) -> Cow<'_, str> {
    if !name.contains('_') {
        return name;
    }
    let mut after_underscore = false;
    let letters = name.chars().filter_map(|letter| {
        let is_first = std::mem::replace(&mut after_underscore, letter == '_');
        (letter != '_').then(|| if is_first { letter.to_ascii_uppercase() } else { letter })
    });
    Cow::Owned(letters.collect())
}

impl JsonObject<'_> {
    /// A member that is a string, as an owned text; empty if there is none.
    pub(crate) fn owned(&self, name: &str) -> String {
        self.text(name).map(Cow::into_owned).unwrap_or_default()
    }
}
