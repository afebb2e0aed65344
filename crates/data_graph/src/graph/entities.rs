//! What subgraphs have, as plans need it.

use crate::field_set::FieldSet;
use std::collections::{HashMap, HashSet};
use tollgate_federation::{Subgraph, SubgraphField, SubgraphType};

/// What a subgraph has.
#[derive(Debug, Default)]
pub(crate) struct EntitySource {
    /// Its object and interface types by name.
    pub types: HashMap<String, EntityType>,
}

/// A type of a subgraph.
#[derive(Debug, Default)]
pub(crate) struct EntityType {
    /// Keys by which the subgraph finds an object.
    pub keys: Vec<FieldSet>,
    /// Fields that belong to any key, resolvable or not.
    key_fields: HashSet<String>,
    fields: HashMap<String, EntityField>,
}

/// A field of a subgraph.
#[derive(Debug, Default)]
pub(crate) struct EntityField {
    /// Whether the subgraph only names the field, or another one has taken it over.
    is_elsewhere: bool,
    /// Fields of other subgraphs that it must be given first.
    pub requires: Option<FieldSet>,
    /// External fields that it has for objects at this field.
    pub provides: Option<FieldSet>,
}

impl EntitySource {
    pub(super) fn new(subgraph: &Subgraph) -> Self {
        let types = subgraph.types.iter().map(|(name, known)| (name.clone(), EntityType::new(known)));
        EntitySource { types: types.collect() }
    }

    pub(crate) fn field(&self, type_name: &str, field: &str) -> Option<&EntityField> {
        self.types.get(type_name)?.fields.get(field)
    }

    /// Whether the subgraph gives values of a field, perhaps only with fields of others.
    pub(crate) fn resolves(&self, type_name: &str, field: &str) -> bool {
        self.field(type_name, field).is_some_and(|field| !field.is_elsewhere) || self.is_key(type_name, field)
    }

    /// Whether the subgraph gives values of a field for objects that it has.
    pub(crate) fn resolves_alone(&self, type_name: &str, field: &str) -> bool {
        self.resolves(type_name, field) && self.field(type_name, field).is_some_and(|field| field.requires.is_none())
    }

    fn is_key(&self, type_name: &str, field: &str) -> bool {
        self.types.get(type_name).is_some_and(|known| known.key_fields.contains(field) && known.fields.contains_key(field))
    }

    /// Whether the subgraph can give all fields of a key.
    pub(crate) fn supplies(&self, type_name: &str, set: &FieldSet) -> bool {
        set.0.iter().all(|item| self.resolves_alone(type_name, &item.name))
    }
}

impl EntityType {
    fn new(known: &SubgraphType) -> Self {
        // Composition has checked the sets.
        let sets = || known.keys.iter().filter_map(|key| Some((key.resolvable, FieldSet::parse(&key.fields)?)));
        EntityType {
            keys: sets().filter(|(is_resolvable, _)| *is_resolvable).map(|(_, set)| set).collect(),
            key_fields: sets().flat_map(|(_, set)| set.0.into_iter().map(|item| item.name)).collect(),
            fields: known.fields.iter().map(|(name, field)| (name.clone(), EntityField::new(field))).collect(),
        }
    }
}

impl EntityField {
    fn new(field: &SubgraphField) -> Self {
        EntityField {
            is_elsewhere: field.is_external || field.is_overridden,
            requires: field.requires.as_deref().and_then(FieldSet::parse),
            provides: field.provides.as_deref().and_then(FieldSet::parse),
        }
    }
}
