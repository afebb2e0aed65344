//! The result of a composition.

use std::collections::HashMap;

/// The composed schema, and where its fields come from.
#[derive(Clone, Debug, Default)]
pub struct Supergraph {
    /// SDL of the schema that clients see: without directives and types of federation, and without elements that are `@inaccessible`.
    pub schema: String,
    /// One for each input, in its order.
    pub subgraphs: Vec<Subgraph>,
}

/// What one subgraph contributes.
#[derive(Clone, Debug, Default)]
pub struct Subgraph {
    /// Its name.
    pub name: String,
    /// By name in the composed schema: object and interface types of which the subgraph has fields. The root types are `Query`, `Mutation` and
    /// `Subscription` here.
    pub types: HashMap<String, SubgraphType>,
    /// By name: union types of the subgraph, with the members that it knows.
    pub unions: HashMap<String, Vec<String>>,
}

/// An object or interface type as a subgraph has it.
#[derive(Clone, Debug, Default)]
pub struct SubgraphType {
    /// By which the subgraph finds an object of the type. Empty for root types and types that are no entities here.
    pub keys: Vec<EntityKey>,
    /// By name: the fields that the subgraph declares, with those that it cannot resolve.
    pub fields: HashMap<String, SubgraphField>,
    /// An object type here (`@interfaceObject`), but an interface in the composed schema.
    pub is_interface_object: bool,
    /// Name of a root type in the subgraph's own schema, if it differs.
    pub own_name: Option<String>,
    /// Object types that the subgraph knows to implement this interface. Empty for object types.
    pub possible_types: Vec<String>,
}

/// One `@key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityKey {
    /// A field set such as `id` or `id organization { id }`.
    pub fields: String,
    /// The subgraph answers `_entities` for this key.
    pub resolvable: bool,
}

/// A field as a subgraph has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubgraphField {
    /// Name of the type that it has in the subgraph, without lists and `!`.
    pub type_name: String,
    /// The whole type, as it is written.
    pub type_text: String,
    /// Cannot be resolved here, except under a field that provides it. Key fields of an extension can be, and are not external.
    pub is_external: bool,
    /// The field set of `@requires`: what a representation must have beside the key.
    pub requires: Option<String>,
    /// The field set of `@provides`: external fields that can be resolved under this one.
    pub provides: Option<String>,
    /// Another subgraph has taken the field over (`@override`). It is still used in keys.
    pub is_overridden: bool,
}
