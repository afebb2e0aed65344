//! One subgraph, read and checked by itself: a valid schema, and what its directives say about types and fields.

use apollo_compiler::ast::{Definition, Document};
use apollo_compiler::collections::{HashMap, HashSet, IndexMap};
use apollo_compiler::parser::{Parser, SourceSpan};
use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema};

use crate::field_set::FieldSetText;
use crate::finding::FindingList;
use crate::specification::Vocabulary;

mod annotations;
mod root_names;
mod rules;

/// Deepest nesting of an SDL document: of types in lists and of default values.
const DEPTH_MAX: usize = 100;

/// A subgraph to compose.
#[derive(Clone, Copy, Debug)]
pub struct SubgraphText<'t> {
    /// A name that is unique among the subgraphs; findings and `@override` refer to it.
    pub name: &'t str,
    /// Its schema. Federation 2 where it has an `@link` to that, otherwise Federation 1.
    pub sdl: &'t str,
}

/// A subgraph.
pub(crate) struct SubgraphSource {
    pub(crate) name: String,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) schema: Valid<Schema>,
    /// The types that are part of the composed schema, by their name there.
    pub(crate) types: IndexMap<Name, SourceType>,
    /// The object types of each interface and union.
    possible_types: HashMap<Name, Vec<Name>>,
}

/// A type of a subgraph.
pub(crate) struct SourceType {
    pub(crate) definition: ExtendedType,
    /// Name in the subgraph's SDL, if that differs.
    pub(crate) own_name: Option<Name>,
    pub(crate) keys: Vec<SourceKey>,
    /// Of object and interface types.
    pub(crate) fields: IndexMap<Name, SourceField>,
    /// Only `extend type`, or `@extends`.
    pub(crate) is_extension: bool,
    pub(crate) is_interface_object: bool,
}

/// One `@key`.
pub(crate) struct SourceKey {
    pub(crate) set: FieldSetText,
    pub(crate) is_resolvable: bool,
    pub(crate) place: Option<SourceSpan>,
}

/// A field of an object or interface type.
pub(crate) struct SourceField {
    pub(crate) definition: Component<FieldDefinition>,
    /// `@external` is written at the field or its type.
    pub(crate) is_marked_external: bool,
    /// The subgraph cannot resolve the field. False for key fields of extensions: their `@external` only says who owns them.
    pub(crate) is_external: bool,
    /// A key of the subgraph has the field.
    pub(crate) is_key: bool,
    pub(crate) is_shareable: bool,
    /// The subgraph that this one takes the field over from.
    pub(crate) takes_over_from: Option<(String, Option<SourceSpan>)>,
    pub(crate) is_overridden: bool,
    pub(crate) requires: Option<FieldSetText>,
    pub(crate) provides: Option<FieldSetText>,
}

impl SourceType {
    /// An object or interface type.
    pub(crate) fn is_composite(&self) -> bool {
        self.definition.is_object() || self.definition.is_interface()
    }
}

impl SourceField {
    /// The subgraph is one that is asked for the field.
    pub(crate) fn is_resolved(&self) -> bool {
        !self.is_external && (!self.is_overridden || self.is_key)
    }

    pub(crate) fn place(&self) -> Option<SourceSpan> {
        self.definition.name.location()
    }
}

impl SubgraphSource {
    /// The object types that a value of the type can have, as the subgraph knows them. None for types without fields.
    pub(crate) fn possible_types(&self, name: &str) -> &[Name] {
        self.possible_types.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Each interface and union of the subgraph with each of its object types.
    pub(crate) fn subtypes(&self) -> impl Iterator<Item = (&Name, &Name)> {
        self.possible_types.iter().flat_map(|(ty, objects)| objects.iter().map(move |object| (ty, object)))
    }
}

/// Reads a subgraph. `None` if it has errors, which go to the findings.
pub(crate) fn read(subgraph: &SubgraphText<'_>, findings: &mut FindingList) -> Option<SubgraphSource> {
    let before = findings.errors.len();
    let parsed = Parser::new().recursion_limit(DEPTH_MAX).parse_ast(subgraph.sdl, subgraph.name);
    let mut document = match parsed {
        Ok(document) => document,
        Err(failed) => {
            add_texts(findings, &failed.partial);
            findings.diagnostics(Some(subgraph.name), &failed.errors, "", |_| false);
            return None;
        }
    };
    add_texts(findings, &document);
    let mut vocabulary = Vocabulary::of(&document, subgraph.name, findings);
    vocabulary.strip(&mut document);
    let own_names = root_names::apply(&mut document, subgraph.name, findings);
    let schema = validated(&document, &vocabulary, subgraph.name, findings)?;
    let defined: HashSet<Name> =
        document.definitions.iter().filter(|of| !of.is_extension_definition()).filter_map(|of| of.name().cloned()).collect();
    let mut source = SubgraphSource {
        name: subgraph.name.to_owned(),
        types: IndexMap::default(),
        possible_types: possible_types(&schema),
        vocabulary,
        schema,
    };
    source.types = annotations::types(&source, &own_names, &defined, findings);
    annotations::finish(&mut source);
    rules::check(&source, findings);
    (findings.errors.len() == before).then_some(source)
}

fn add_texts(findings: &mut FindingList, document: &Document) {
    let texts = std::sync::Arc::make_mut(&mut findings.texts);
    texts.extend(document.sources.iter().map(|(file, text)| (*file, text.clone())));
}

/// The schema of a document together with the declarations of federation.
fn validated(document: &Document, vocabulary: &Vocabulary, subgraph: &str, findings: &mut FindingList) -> Option<Valid<Schema>> {
    let builder = Schema::builder().adopt_orphan_extensions().ignore_builtin_redefinitions().add_ast(document);
    let built = builder.parse(vocabulary.declarations(), "federation").build();
    let mut schema = match built {
        Ok(schema) => schema,
        Err(failed) => {
            findings.diagnostics(Some(subgraph), &failed.errors, "", |_| false);
            return None;
        }
    };
    // A subgraph need not have a query of its own.
    if schema.schema_definition.query.is_none() {
        let query = Name::new_static("Query").ok()?;
        if !schema.types.contains_key(&query) {
            let definition = Schema::parse("type Query { _service: String }", "federation").unwrap_or_else(|failed| failed.partial);
            schema.types.extend(definition.types.into_iter().filter(|(name, _)| *name == query));
        }
        schema.schema_definition.make_mut().query = Some(query.into());
    }
    match schema.validate() {
        Ok(schema) => Some(schema),
        Err(failed) => {
            let is_note = |message: &str| vocabulary.is_federation_1 && is_tolerated(message);
            let before = findings.errors.len();
            findings.diagnostics(Some(subgraph), &failed.errors, "", is_note);
            (findings.errors.len() == before).then(|| Valid::assume_valid(failed.partial))
        }
    }
}

/// What Tyk takes in subgraphs of Federation 1: directives that do nothing, unless they are of Federation 2 and were meant to do something;
/// and extensions that implement an interface without its fields, which the composed type must have.
fn is_tolerated(message: &str) -> bool {
    let unknown = message.strip_prefix("cannot find directive `@").and_then(|rest| rest.split('`').next());
    unknown.is_some_and(|name| !Vocabulary::is_federations(name)) || message.contains("does not satisfy interface")
}

fn possible_types(schema: &Schema) -> HashMap<Name, Vec<Name>> {
    let mut possible: HashMap<Name, Vec<Name>> = HashMap::default();
    for (name, ty) in &schema.types {
        match ty {
            ExtendedType::Object(object) => {
                possible.entry(name.clone()).or_default().push(name.clone());
                for interface in &object.implements_interfaces {
                    possible.entry(interface.name.clone()).or_default().push(name.clone());
                }
            }
            ExtendedType::Union(union) => {
                possible.entry(name.clone()).or_default().extend(union.members.iter().map(|member| member.name.clone()));
            }
            _ => {}
        }
    }
    possible
}

/// Whether a definition is of an object type; root types are.
fn is_object(definition: &Definition) -> bool {
    matches!(definition, Definition::ObjectTypeDefinition(_) | Definition::ObjectTypeExtension(_))
}
