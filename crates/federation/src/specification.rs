//! The vocabulary of federation: which directives a subgraph may use, by which names, and their declarations. A subgraph of Federation 2 says
//! in its `@link` which version it uses and how it calls what it imports.

use std::collections::{HashMap, HashSet};

use apollo_compiler::ast::{Definition, Directive, Document, Value};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::{Name, Node};

use crate::finding::FindingList;

/// A directive of federation, whatever a subgraph calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FederationDirective {
    Key,
    External,
    Requires,
    Provides,
    Extends,
    Shareable,
    Inaccessible,
    Tag,
    Override,
    InterfaceObject,
    ComposeDirective,
    Authenticated,
    RequiresScopes,
    Policy,
    Context,
    FromContext,
    Cost,
    ListSize,
}

/// A directive's own name, the first version of Federation 2 that has it, and its declaration; `%` stands for the name of the field set's type.
struct Declared {
    directive: FederationDirective,
    name: &'static str,
    since: u32,
    declaration: &'static str,
}

const fn declared(directive: FederationDirective, name: &'static str, since: u32, declaration: &'static str) -> Declared {
    Declared { directive, name, since, declaration }
}

const EVERYWHERE: &str = "FIELD_DEFINITION | INTERFACE | OBJECT | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION";

const DECLARED: [Declared; 18] = {
    use FederationDirective::*;
    [
        declared(Key, "key", 0, "(fields: %!, resolvable: Boolean = true) repeatable on OBJECT | INTERFACE"),
        declared(External, "external", 0, "(reason: String) on OBJECT | FIELD_DEFINITION"),
        declared(Requires, "requires", 0, "(fields: %!) on FIELD_DEFINITION"),
        declared(Provides, "provides", 0, "(fields: %!) on FIELD_DEFINITION"),
        declared(Extends, "extends", 0, " on OBJECT | INTERFACE"),
        declared(Inaccessible, "inaccessible", 0, " on #"),
        declared(Tag, "tag", 0, "(name: String!) repeatable on SCHEMA | #"),
        declared(Shareable, "shareable", 0, " repeatable on FIELD_DEFINITION | OBJECT"),
        declared(Override, "override", 0, "(from: String!, label: String) on FIELD_DEFINITION"),
        declared(ComposeDirective, "composeDirective", 1, "(name: String!) repeatable on SCHEMA"),
        declared(InterfaceObject, "interfaceObject", 3, " on OBJECT"),
        declared(Authenticated, "authenticated", 5, " on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM"),
        declared(
            RequiresScopes,
            "requiresScopes",
            5,
            "(scopes: [[federation__Scope!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM",
        ),
        declared(
            Policy,
            "policy",
            6,
            "(policies: [[federation__Policy!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM",
        ),
        declared(Context, "context", 8, "(name: String!) repeatable on INTERFACE | OBJECT | UNION"),
        declared(FromContext, "fromContext", 8, "(field: federation__ContextFieldValue) on ARGUMENT_DEFINITION"),
        declared(
            Cost,
            "cost",
            9,
            "(weight: Int!) on ARGUMENT_DEFINITION | ENUM | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT | SCALAR",
        ),
        declared(
            ListSize,
            "listSize",
            9,
            "(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true) on FIELD_DEFINITION",
        ),
    ]
};

/// Number of the directives of `DECLARED` that Federation 1 has.
const FEDERATION_1: usize = 7;

/// How the URLs of the specification begin.
const FEDERATION: &str = "https://specs.apollo.dev/federation/";

/// The highest minor version of Federation 2 that is known here.
const MINOR_MAX: u32 = 11;

/// Declarations of the types that directives of federation use.
const TYPES: [(&str, &str); 7] = [
    ("_FieldSet", "scalar _FieldSet"),
    ("federation__FieldSet", "scalar federation__FieldSet"),
    ("federation__Scope", "scalar federation__Scope"),
    ("federation__Policy", "scalar federation__Policy"),
    ("federation__ContextFieldValue", "scalar federation__ContextFieldValue"),
    ("link__Import", "scalar link__Import"),
    ("link__Purpose", "enum link__Purpose { SECURITY EXECUTION }"),
];

/// Types that every subgraph adds to its schema so that a router can ask it.
const OF_SUBGRAPHS: [&str; 3] = ["_Any", "_Entity", "_Service"];

/// Fields that every subgraph adds to its query type for the same reason.
pub(crate) const FIELDS_OF_SUBGRAPHS: [&str; 2] = ["_service", "_entities"];

/// What a subgraph calls the directives of federation.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// Federation 1 has no `@link`, no `@shareable`, and laxer rules.
    pub(crate) is_federation_1: bool,
    directives: HashMap<String, FederationDirective>,
    /// Types that federation has, by the names that they have in this subgraph.
    types: HashSet<String>,
}

impl Vocabulary {
    /// Reads the `@link`s of a document.
    pub(crate) fn of(document: &Document, subgraph: &str, findings: &mut FindingList) -> Self {
        let mut links = document.definitions.iter().flat_map(schema_directives).filter(|directive| directive.name == "link");
        let link = links.find_map(|link| Some((link, text(link, "url")?.strip_prefix(FEDERATION)?)));
        match link.map(|(link, version)| (link, version, minor(version))) {
            Some((link, _, Some(minor))) => Self::linked(link, minor, subgraph, findings),
            Some((link, version, None)) => {
                findings.error_of(
                    subgraph,
                    link.location(),
                    format!("version `{version}` of federation is not known; 2.0 to 2.{MINOR_MAX} are"),
                );
                Self::federation_1()
            }
            None => Self::federation_1(),
        }
    }

    fn federation_1() -> Self {
        let known = DECLARED.iter().take(FEDERATION_1);
        let directives = known.map(|declared| (declared.name.to_owned(), declared.directive)).collect();
        Vocabulary { is_federation_1: true, directives, types: HashSet::new() }
    }

    fn linked(link: &Node<Directive>, minor: u32, subgraph: &str, findings: &mut FindingList) -> Self {
        let namespace = text(link, "as").unwrap_or("federation");
        let mut vocabulary = Vocabulary { is_federation_1: false, directives: HashMap::new(), types: HashSet::new() };
        let available = || DECLARED.iter().filter(|declared| declared.since <= minor);
        for declared in available() {
            vocabulary.directives.insert(format!("{namespace}__{}", declared.name), declared.directive);
        }
        for (import, place) in imports(link) {
            let Some((name, local)) = import else {
                findings.error_of(subgraph, place, "an import must be a name or an object with `name` and `as`");
                continue;
            };
            match (name.strip_prefix('@'), local.strip_prefix('@')) {
                (Some(name), Some(local)) => match available().find(|declared| declared.name == name) {
                    Some(declared) => _ = vocabulary.directives.insert(local.to_owned(), declared.directive),
                    None => findings.error_of(
                        subgraph,
                        place,
                        format!("version 2.{minor} of federation has no directive `@{name}` to import"),
                    ),
                },
                (None, None) if TYPES.iter().any(|(known, _)| known.strip_prefix("federation__") == Some(name)) => {
                    vocabulary.types.insert(local.to_owned());
                }
                (None, None) => findings.error_of(subgraph, place, format!("federation has no type `{name}` to import")),
                _ => findings.error_of(
                    subgraph,
                    place,
                    format!("`{name}` cannot be imported as `{local}`: directives start with `@`, types do not"),
                ),
            }
        }
        vocabulary
    }

    /// The directive of federation that a subgraph calls so.
    pub(crate) fn directive(&self, name: &str) -> Option<FederationDirective> {
        self.directives.get(name).copied()
    }

    /// Whether any version of federation has a directive of that name.
    pub(crate) fn is_federations(name: &str) -> bool {
        DECLARED.iter().any(|declared| declared.name == name)
    }

    /// Whether the subgraph can use the directive.
    pub(crate) fn has(&self, directive: FederationDirective) -> bool {
        self.directives.values().any(|known| *known == directive)
    }

    /// Whether the type belongs to federation, and not to the composed schema.
    pub(crate) fn is_own_type(&self, name: &str) -> bool {
        name.starts_with("federation__")
            || name.starts_with("link__")
            || OF_SUBGRAPHS.contains(&name)
            || self.types.contains(name)
            || TYPES.iter().any(|(known, _)| *known == name)
    }

    /// Takes out of a document what subgraphs may or may not declare of federation, so that the declarations of `declarations` hold.
    pub(crate) fn strip(&mut self, document: &mut Document) {
        let declares_key =
            document.definitions.iter().any(|definition| directive_name(definition).is_some_and(|name| name == "key"));
        let is_field_set =
            |definition: &Definition| matches!(definition, Definition::ScalarTypeDefinition(scalar) if scalar.name == "FieldSet");
        if self.is_federation_1 && declares_key && document.definitions.iter().any(is_field_set) {
            self.types.insert("FieldSet".to_owned());
        }
        document.definitions.retain(|definition| match directive_name(definition) {
            Some(name) => name != "link" && self.directive(name).is_none(),
            None => definition.name().is_none_or(|name| !self.is_own_type(name)),
        });
    }

    /// Declarations of all that a subgraph can use of federation.
    pub(crate) fn declarations(&self) -> String {
        let field_set = if self.is_federation_1 { "_FieldSet" } else { "federation__FieldSet" };
        let mut text: String = TYPES.iter().map(|(_, declaration)| format!("{declaration}\n")).collect();
        for name in &self.types {
            text.push_str(&format!("scalar {name}\n"));
        }
        text.push_str(
            "directive @link(url: String!, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA\n",
        );
        for (name, directive) in &self.directives {
            if let Some(declared) = DECLARED.iter().find(|declared| declared.directive == *directive) {
                let declaration = declared.declaration.replace('%', field_set).replace('#', EVERYWHERE);
                text.push_str(&format!("directive @{name}{declaration}\n"));
            }
        }
        text
    }
}

fn directive_name(definition: &Definition) -> Option<&Name> {
    definition.as_directive_definition().map(|directive| &directive.name)
}

fn schema_directives(definition: &Definition) -> &[Node<Directive>] {
    match definition {
        Definition::SchemaDefinition(schema) => &schema.directives.0,
        Definition::SchemaExtension(schema) => &schema.directives.0,
        _ => &[],
    }
}

/// The minor version of Federation 2.
fn minor(version: &str) -> Option<u32> {
    version.strip_prefix("v2.")?.trim_end_matches('/').parse().ok().filter(|minor| *minor <= MINOR_MAX)
}

/// A text argument of a directive.
pub(crate) fn text<'d>(directive: &'d Directive, argument: &str) -> Option<&'d str> {
    directive.specified_argument_by_name(argument)?.as_str()
}

/// The specification's name of something, and the subgraph's.
type Imported<'d> = (&'d str, &'d str);

/// The imports of a link: what the specification calls it and what the subgraph does.
fn imports(link: &Directive) -> Vec<(Option<Imported<'_>>, Option<SourceSpan>)> {
    let list = link.specified_argument_by_name("import").and_then(|imports| imports.as_list()).unwrap_or_default();
    list.iter().map(|import| (imported(import), import.location())).collect()
}

fn imported(import: &Value) -> Option<Imported<'_>> {
    match import {
        Value::String(name) => Some((name, name)),
        Value::Object(fields) => {
            let field = |name: &str| fields.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.as_str());
            let name = field("name")?;
            Some((name, field("as").unwrap_or(name)))
        }
        _ => None,
    }
}
