//! What an operation asks for, as it is kept with its document.

use std::collections::BTreeSet;

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Reads.
    Query,
    /// Changes something.
    Mutation,
    /// Asks for events.
    Subscription,
}

/// What one operation asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationFacts {
    /// Its kind.
    pub kind: OperationKind,
    /// Levels of fields; 0 if no field has fields of its own, as Tyk counts.
    pub depth: usize,
    /// Levels of fields, as everybody else counts: at least 1.
    pub levels: usize,
    /// Fields, with every spread fragment counted as often as it is spread.
    pub fields: u64,
    /// Fields with an alias, counted alike.
    pub aliases: u64,
    /// The fields of its root type that it selects.
    pub roots: Vec<RootField>,
    /// Every field that it selects, by the type that it is selected on. Without `__typename` and the types of introspection.
    pub used: BTreeSet<UsedField>,
    /// Whether it asks for `__schema` or `__type`.
    pub introspects: bool,
    /// Whether it asks for nothing but `__schema`, `__type` and `__typename`, and for one of the first two.
    pub only_introspects: bool,
}

/// A field of a root type that an operation selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootField {
    /// Name of the root type.
    pub type_name: String,
    /// Name of the field.
    pub name: String,
    /// Levels of fields below it.
    pub depth: usize,
}

/// A field and the type that it is selected on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsedField {
    /// Name of the type.
    pub type_name: String,
    /// Name of the field.
    pub field: String,
}
