//! Values with names, such as the members of an object: few of them in one list, without hashing, as most objects have them; many with an index beside it.

use std::collections::HashMap;
use std::rc::Rc;

/// Up to so many members a name is searched in the list.
const SEARCHED_MAX: usize = 16;

/// Values with names, in the order in which they were added.
#[derive(Clone, Debug)]
pub(crate) struct NamedList<V> {
    list: Vec<(Rc<str>, V)>,
    /// The place of each name; `None` for a short list.
    places: Option<HashMap<Rc<str>, usize>>,
}

impl<V> NamedList<V> {
    pub(crate) fn with_capacity(count: usize) -> Self {
        NamedList { list: Vec::with_capacity(count), places: None }
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

    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        self.list.get(self.place(name)?).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        let at = self.place(name)?;
        self.list.get_mut(at).map(|(_, value)| value)
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// The member at a place.
    pub(crate) fn get_index(&self, at: usize) -> Option<(&Rc<str>, &V)> {
        self.list.get(at).map(|(name, value)| (name, value))
    }

    /// Adds a member behind the others, or replaces the value of the one with its name.
    pub(crate) fn insert(&mut self, name: Rc<str>, value: V) {
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
    pub(crate) fn shift_remove(&mut self, name: &str) -> Option<V> {
        let at = self.place(name)?;
        let (_, value) = self.list.remove(at);
        self.index();
        Some(value)
    }

    fn index(&mut self) {
        let has_index = self.list.len() > SEARCHED_MAX;
        let places = || self.list.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        self.places = has_index.then(places);
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&Rc<str>, &V)> {
        self.list.iter().map(|(name, value)| (name, value))
    }

    pub(crate) fn keys(&self) -> impl ExactSizeIterator<Item = &Rc<str>> {
        self.list.iter().map(|(name, _)| name)
    }

    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.list.iter().map(|(_, value)| value)
    }
}

impl<V> Default for NamedList<V> {
    fn default() -> Self {
        NamedList::with_capacity(0)
    }
}

impl<V> IntoIterator for NamedList<V> {
    type Item = (Rc<str>, V);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<V> FromIterator<(Rc<str>, V)> for NamedList<V> {
    fn from_iter<I: IntoIterator<Item = (Rc<str>, V)>>(members: I) -> Self {
        let mut made = NamedList::default();
        members.into_iter().for_each(|(name, value)| made.insert(name, value));
        made
    }
}

#[cfg(test)]
mod tests;
