//! Schemas: from the text in a definition to what documents are checked against. A schema that cannot work is refused with every fault and
//! its place. Directives that the schema uses and does not declare are only noted: schemas of subgraphs have them, and they change nothing
//! for requests.

use crate::fault::{SchemaFault, SchemaRules};
use apollo_compiler::Name;
use apollo_compiler::Schema;
use apollo_compiler::collections::HashMap;
use apollo_compiler::parser::Parser;
use apollo_compiler::schema::Implementers;
use apollo_compiler::validation::{DiagnosticList, Valid};

/// Most faults of one schema that are reported.
const FAULTS_MAX: usize = 50;

/// What a subgraph has beside its own schema, by the specification of Apollo Federation.
const FEDERATION: &str = "
scalar _Any
type _Service { sdl: String }
extend type Query { _service: _Service! }
";

/// A schema that documents can be checked against.
pub struct GraphqlSchema {
    pub(crate) schema: Valid<Schema>,
    pub(crate) implementers: HashMap<Name, Implementers>,
}

impl GraphqlSchema {
    /// Reads a schema. The second part of the result are faults that do not matter for requests.
    pub fn compile(text: &str, rules: SchemaRules) -> Result<(Self, Vec<SchemaFault>), Vec<SchemaFault>> {
        if text.trim().is_empty() {
            return Err(vec![SchemaFault { message: "is empty".to_owned(), place: None }]);
        }
        let mut builder = Schema::builder().adopt_orphan_extensions().ignore_builtin_redefinitions();
        Parser::new().parse_into_schema_builder(text, "schema", &mut builder);
        if rules.is_subgraph && !declares_service(text) {
            builder = builder.parse(federation(text), "federation");
        }
        let schema = builder.build().map_err(|failed| faults(&failed.errors))?;
        let (schema, notes) = match schema.validate() {
            Ok(schema) => (schema, Vec::new()),
            Err(failed) => {
                let all = faults(&failed.errors);
                if !all.iter().all(|fault| is_unknown_directive(&fault.message)) {
                    return Err(all.into_iter().filter(|fault| !is_unknown_directive(&fault.message)).collect());
                }
                (Valid::assume_valid(failed.partial), all)
            }
        };
        let implementers = schema.implementers_map();
        Ok((GraphqlSchema { schema, implementers }, notes))
    }

    /// The schema itself.
    pub fn definition(&self) -> &Valid<Schema> {
        &self.schema
    }

    /// Number of types, including those that every schema has.
    pub fn types(&self) -> usize {
        self.schema.types.len()
    }

    /// Whether an object type implements an interface.
    pub(crate) fn implements(&self, object: &str, interface: &str) -> bool {
        self.implementers.get(interface).is_some_and(|implementers| implementers.objects.iter().any(|name| name == object))
    }
}

/// Whether a subgraph's schema already has the fields of federation.
fn declares_service(text: &str) -> bool {
    text.contains("_Service") || text.contains("_service")
}

/// The declarations that a subgraph's schema lacks. Its entities are the types with keys.
fn federation(text: &str) -> String {
    let entities = entities(text);
    let mut added = FEDERATION.to_owned();
    if !entities.is_empty() {
        added.push_str(&format!("union _Entity = {}\n", entities.join(" | ")));
        added.push_str("extend type Query { _entities(representations: [_Any!]!): [_Entity]! }\n");
    }
    added
}

/// The object types of a schema that have the directive `@key`.
fn entities(text: &str) -> Vec<String> {
    // Faults are reported where the schema is built.
    let document = Parser::new().parse_ast(text, "schema").unwrap_or_else(|failed| failed.partial);
    let mut names: Vec<String> = Vec::new();
    for definition in &document.definitions {
        use apollo_compiler::ast::Definition::{ObjectTypeDefinition, ObjectTypeExtension};
        let (name, directives) = match definition {
            ObjectTypeDefinition(object) => (&object.name, &object.directives),
            ObjectTypeExtension(object) => (&object.name, &object.directives),
            _ => continue,
        };
        if directives.has("key") && !names.iter().any(|known| known == name.as_str()) {
            names.push(name.to_string());
        }
    }
    names
}

fn is_unknown_directive(message: &str) -> bool {
    message.starts_with("cannot find directive `@")
}

fn faults(diagnostics: &DiagnosticList) -> Vec<SchemaFault> {
    let mut faults = Vec::new();
    for diagnostic in diagnostics.iter().take(FAULTS_MAX) {
        let place = diagnostic.line_column_range().map(|range| (range.start.line, range.start.column));
        faults.push(SchemaFault { message: diagnostic.error.to_string(), place });
    }
    faults
}

#[cfg(test)]
mod tests;
