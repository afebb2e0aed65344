//! What a key may ask for: how deep, and which fields of which types. The rules and their order are Tyk's. Stricter than Tyk in two places: a
//! field that is restricted on a type is also restricted where it is selected on an interface of that type, and a query for the schema does
//! not free the other fields of the same query.

use crate::checking::{CheckedOperation, GraphqlSchema};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A key's rights for one API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphqlRights {
    /// Deepest query; unlimited if 0 or less.
    pub depth_max: i64,
    /// Depths of single fields of the root types, in place of `depth_max`.
    pub fields: Vec<FieldDepth>,
    /// If not empty, only these fields.
    pub allowed: Vec<TypeFields>,
    /// Not these fields; without effect if `allowed` is not empty.
    pub restricted: Vec<TypeFields>,
    /// Nothing about the schema.
    pub disable_introspection: bool,
}

/// How deep the query below a field of a root type may be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldDepth {
    /// Name of the root type.
    pub type_name: String,
    /// Name of the field.
    pub field_name: String,
    /// Most levels below the field; -1 for any.
    pub depth_max: i64,
}

/// Fields of a type; `*` is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeFields {
    /// Name of the type.
    pub name: String,
    /// Names of fields.
    pub fields: Vec<String>,
}

/// Why a key may not send an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// It is too deep.
    Depth,
    /// It asks for the schema.
    Introspection,
    /// It asks for a field that the key may not have.
    Field {
        /// Name of the type.
        type_name: String,
        /// Name of the field.
        field: String,
    },
    /// It asks for a type that the key may not have.
    Type(String),
}

/// In Tyk's words.
impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Denial::Depth => f.write_str("depth limit exceeded"),
            Denial::Introspection => f.write_str("introspection is disabled"),
            Denial::Field { type_name, field } => write!(f, "field: {field} is restricted on type: {type_name}"),
            Denial::Type(type_name) => write!(f, "all fields of {type_name} type are restricted"),
        }
    }
}

impl TypeFields {
    fn has_all(&self) -> bool {
        self.fields.iter().any(|field| field == "*")
    }

    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field == "*" || field == name)
    }
}

impl GraphqlRights {
    /// Whether the key may send an operation.
    pub fn check(&self, operation: CheckedOperation<'_>, schema: &GraphqlSchema) -> Result<(), Denial> {
        if self.is_too_deep(operation) {
            return Err(Denial::Depth);
        }
        if operation.facts.introspects && self.disable_introspection {
            return Err(Denial::Introspection);
        }
        match self.allowed.is_empty() {
            false => self.check_allowed(operation),
            true => self.check_restricted(operation, schema),
        }
    }

    fn is_too_deep(&self, operation: CheckedOperation<'_>) -> bool {
        let facts = operation.facts;
        if facts.only_introspects {
            return false;
        }
        if self.fields.is_empty() {
            return self.depth_max > 0 && facts.depth as i64 > self.depth_max;
        }
        facts.roots.iter().filter(|root| !root.name.starts_with("__")).any(|root| {
            let own = self.fields.iter().find(|own| own.type_name == root.type_name && own.field_name == root.name);
            let (depth, depth_max) = match own {
                Some(own) => (root.depth as i64, own.depth_max),
                None => (root.depth as i64 + 1, self.depth_max),
            };
            depth_max != -1 && depth > depth_max
        })
    }

    fn check_allowed(&self, operation: CheckedOperation<'_>) -> Result<(), Denial> {
        for used in &operation.facts.used {
            let is_allowed = self.allowed.iter().any(|allowed| allowed.name == used.type_name && allowed.has(&used.field));
            if !is_allowed {
                return Err(Denial::Field { type_name: used.type_name.clone(), field: used.field.clone() });
            }
        }
        Ok(())
    }

    fn check_restricted(&self, operation: CheckedOperation<'_>, schema: &GraphqlSchema) -> Result<(), Denial> {
        for restricted in &self.restricted {
            for used in &operation.facts.used {
                let is_it = used.type_name == restricted.name || schema.implements(&restricted.name, &used.type_name);
                if !is_it || !restricted.has(&used.field) {
                    continue;
                }
                return Err(match restricted.has_all() {
                    true => Denial::Type(restricted.name.clone()),
                    false => Denial::Field { type_name: restricted.name.clone(), field: used.field.clone() },
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
