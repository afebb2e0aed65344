//! What subgraphs have, as plans need it.

use crate::field_set::FieldSet;
use std::collections::{HashMap, HashSet};
use tollgate_federation::{Subgraph, SubgraphField, SubgraphType, Supergraph};

/// What a subgraph has.
#[derive(Debug, Default)]
pub(crate) struct EntitySource {
    /// Its object and interface types by name, and the types of others that it has as interface objects.
    pub types: HashMap<String, EntityType>,
    unions: HashMap<String, HashSet<String>>,
}

/// A type of a subgraph.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntityType {
    /// Keys by which the subgraph finds an object.
    pub keys: Vec<FieldSet>,
    /// The name by which the subgraph knows the type, if it has it as an interface object.
    pub interface: Option<String>,
    /// Whether it is an object here, but an interface elsewhere.
    pub is_interface_object: bool,
    /// Object types that an interface can be here.
    possible: HashSet<String>,
    fields: HashMap<String, EntityField>,
}

/// A field of a subgraph.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntityField {
    type_name: String,
    /// The whole type, as it is written.
    pub type_text: String,
    /// Whether the subgraph only names the field, or another one has taken it over.
    is_elsewhere: bool,
    /// Fields of other subgraphs that it must be given first.
    pub requires: Option<FieldSet>,
    /// External fields that it has for objects at this field.
    pub provides: Option<FieldSet>,
}

impl EntitySource {
    /// The subgraphs of a supergraph, in their order.
    pub(super) fn all(supergraph: &Supergraph) -> Vec<Self> {
        let mut implementations: HashMap<&str, Vec<&str>> = HashMap::new();
        for (name, known) in supergraph.subgraphs.iter().flat_map(|subgraph| &subgraph.types) {
            let of = implementations.entry(name).or_default();
            known.possible_types.iter().for_each(|object| of.push(object));
        }
        for objects in implementations.values_mut() {
            objects.sort_unstable();
            objects.dedup();
        }
        supergraph.subgraphs.iter().map(|subgraph| EntitySource::new(subgraph, &implementations)).collect()
    }

    fn new(subgraph: &Subgraph, implementations: &HashMap<&str, Vec<&str>>) -> Self {
        let mut types: HashMap<String, EntityType> =
            subgraph.types.iter().map(|(name, known)| (name.clone(), EntityType::new(known))).collect();
        for (interface, _) in subgraph.types.iter().filter(|(_, known)| known.is_interface_object) {
            let objects = implementations.get(interface.as_str()).map(Vec::as_slice).unwrap_or_default();
            let Some(known) = types.get_mut(interface) else { continue };
            known.possible = objects.iter().map(|object| (*object).to_owned()).collect();
            let as_object = EntityType { interface: Some(interface.clone()), possible: HashSet::new(), ..known.clone() };
            objects.iter().for_each(|object| {
                types.entry((*object).to_owned()).or_insert_with(|| as_object.clone());
            });
        }
        let unions = subgraph.unions.iter().map(|(name, members)| (name.clone(), members.iter().cloned().collect()));
        EntitySource { types, unions: unions.collect() }
    }

    pub(crate) fn field(&self, type_name: &str, field: &str) -> Option<&EntityField> {
        self.types.get(type_name)?.fields.get(field)
    }

    /// The type that a field has here.
    pub(crate) fn returned(&self, type_name: &str, field: &str) -> Option<&str> {
        self.field(type_name, field).map(|field| field.type_name.as_str())
    }

    /// Whether an object of a type can be of an object type here.
    pub(crate) fn can_be(&self, type_name: &str, object: &str) -> bool {
        if let Some(members) = self.unions.get(type_name) {
            return members.contains(object);
        }
        match self.types.get(type_name).map(|known| &known.possible).filter(|possible| !possible.is_empty()) {
            Some(possible) => possible.contains(object),
            None => type_name == object,
        }
    }

    /// Whether the type is an object here, but an interface elsewhere.
    pub(crate) fn is_interface_object(&self, type_name: &str) -> bool {
        self.types.get(type_name).is_some_and(|known| known.is_interface_object && known.interface.is_none())
    }

    /// The name of an object type here.
    pub(crate) fn name_of<'n>(&'n self, type_name: &'n str) -> &'n str {
        self.types.get(type_name).and_then(|known| known.interface.as_deref()).unwrap_or(type_name)
    }

    /// Whether the subgraph gives values of a field, perhaps only with fields of others.
    pub(crate) fn resolves(&self, type_name: &str, field: &str) -> bool {
        self.field(type_name, field).is_some_and(|field| !field.is_elsewhere)
    }

    /// Whether the subgraph gives values of a field for objects that it has.
    pub(crate) fn resolves_alone(&self, type_name: &str, field: &str) -> bool {
        self.field(type_name, field).is_some_and(|field| !field.is_elsewhere && field.requires.is_none())
    }

    /// Whether the subgraph can give all fields of a set for its objects. Some external fields may be provided.
    pub(crate) fn supplies(&self, type_name: &str, set: &FieldSet, provided: &FieldSet) -> bool {
        set.0.iter().all(|item| {
            let on = item.on.as_deref().filter(|on| self.types.contains_key(*on)).unwrap_or(type_name);
            let own_provided = provided.of(on, &item.name);
            if !self.resolves_alone(on, &item.name) && own_provided.is_none() {
                return false;
            }
            let Some(returned) = self.returned(on, &item.name) else { return false };
            let below = self.field(on, &item.name).and_then(|field| field.provides.as_ref()).or(own_provided);
            item.fields.0.is_empty() || self.supplies(returned, &item.fields, below.unwrap_or(&FieldSet::default()))
        })
    }
}

impl EntityType {
    fn new(known: &SubgraphType) -> Self {
        // Composition has checked the sets.
        let sets = || known.keys.iter().filter_map(|key| Some((key.resolvable, FieldSet::parse(&key.fields)?)));
        let of_keys: HashSet<String> = sets().flat_map(|(_, set)| set.0.into_iter().map(|item| item.name)).collect();
        let field = |(name, field): (&String, &SubgraphField)| (name.clone(), EntityField::new(field, of_keys.contains(name)));
        EntityType {
            keys: sets().filter(|(is_resolvable, _)| *is_resolvable).map(|(_, set)| set).collect(),
            interface: None,
            is_interface_object: known.is_interface_object,
            possible: known.possible_types.iter().cloned().collect(),
            fields: known.fields.iter().map(field).collect(),
        }
    }
}

impl EntityField {
    fn new(field: &SubgraphField, is_key: bool) -> Self {
        EntityField {
            type_name: field.type_name.clone(),
            type_text: field.type_text.clone(),
            // Who has a key taken over still needs it to name objects.
            is_elsewhere: field.is_external || (field.is_overridden && !is_key),
            requires: field.requires.as_deref().and_then(FieldSet::parse),
            provides: field.provides.as_deref().and_then(FieldSet::parse),
        }
    }
}
