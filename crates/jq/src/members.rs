//! The members of an object: few of them in one list, without hashing, as most objects have them; many with an index beside it.

use crate::value::JqValue;
use std::collections::HashMap;
use std::rc::Rc;

/// Up to so many members a name is searched in the list.
const SEARCHED_MAX: usize = 16;

/// Members of an object, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct JqMembers {
    list: Vec<(Rc<str>, JqValue)>,
    /// The place of each name; `None` for a short list.
    places: Option<Box<HashMap<Rc<str>, usize>>>,
}

impl JqMembers {
    pub(crate) fn with_capacity(count: usize) -> Self {
        JqMembers { list: Vec::with_capacity(count), places: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The place of a name.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(name).copied(),
            None => self.list.iter().position(|(known, _)| **known == *name),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&JqValue> {
        self.list.get(self.place(name)?).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut JqValue> {
        let at = self.place(name)?;
        self.list.get_mut(at).map(|(_, value)| value)
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// The member at a place.
    pub(crate) fn get_index(&self, at: usize) -> Option<(&Rc<str>, &JqValue)> {
        self.list.get(at).map(|(name, value)| (name, value))
    }

    /// Adds a member behind the others, or replaces the value of the one with its name.
    pub(crate) fn insert(&mut self, name: Rc<str>, value: JqValue) {
        if let Some(known) = self.get_mut(&name) {
            *known = value;
            return;
        }
        if let Some(places) = &mut self.places {
            places.insert(name.clone(), self.list.len());
        }
        self.list.push((name, value));
        if self.list.len() > SEARCHED_MAX && self.places.is_none() {
            self.index();
        }
    }

    /// Removes a member; those behind it move up.
    pub(crate) fn shift_remove(&mut self, name: &str) -> Option<JqValue> {
        let at = self.place(name)?;
        let (_, value) = self.list.remove(at);
        self.index();
        Some(value)
    }

    fn index(&mut self) {
        let has_index = self.list.len() > SEARCHED_MAX;
        let places = || self.list.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        self.places = has_index.then(|| Box::new(places()));
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&Rc<str>, &JqValue)> {
        self.list.iter().map(|(name, value)| (name, value))
    }

    pub(crate) fn keys(&self) -> impl ExactSizeIterator<Item = &Rc<str>> {
        self.list.iter().map(|(name, _)| name)
    }

    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &JqValue> {
        self.list.iter().map(|(_, value)| value)
    }
}

impl IntoIterator for JqMembers {
    type Item = (Rc<str>, JqValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl FromIterator<(Rc<str>, JqValue)> for JqMembers {
    fn from_iter<I: IntoIterator<Item = (Rc<str>, JqValue)>>(members: I) -> Self {
        let mut made = JqMembers::default();
        members.into_iter().for_each(|(name, value)| made.insert(name, value));
        made
    }
}

#[cfg(test)]
mod tests;
