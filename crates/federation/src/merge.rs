//! The composed schema: each type from all subgraphs that have it. Outputs are as weak as the weakest subgraph, inputs as strict as the strictest.
//! What is `@inaccessible` is in it, and noted.

use apollo_compiler::ast::{DirectiveDefinition, Type};
use apollo_compiler::collections::{HashMap, HashSet, IndexMap, IndexSet};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::{
    Component, ComponentName, Directive, DirectiveList, EnumType, ExtendedType, InterfaceType, ObjectType, ScalarType, UnionType,
};
use apollo_compiler::{Name, Node, Schema};

use crate::finding::FindingList;
use crate::source::{SourceType, SubgraphSource};
use crate::specification::FederationDirective;

mod directives;
mod fields;
mod inputs;
mod usage;

/// The composed schema before anything is hidden.
pub(crate) struct Merged {
    pub(crate) schema: Schema,
    /// What clients do not see: `Type`, `Type.field`, `Type.field(argument:)`, `Enum.VALUE`.
    pub(crate) inaccessible: HashSet<String>,
    /// By object type: its interfaces that a subgraph has as an object type.
    interfaces_with_objects: HashMap<Name, Vec<Name>>,
}

/// A type as one subgraph has it.
#[derive(Clone, Copy)]
pub(crate) struct TypeDeclaration<'s> {
    source: &'s SubgraphSource,
    ty: &'s SourceType,
}

/// What is collected while types are merged.
struct TypeMerge<'s, 'f> {
    sources: &'s [SubgraphSource],
    /// The object types and interfaces below each interface and union, in any subgraph.
    subtypes: HashMap<&'s Name, HashSet<&'s Name>>,
    inaccessible: HashSet<String>,
    /// The interfaces that a subgraph has as an object type, with the fields that this adds to all implementations.
    interface_objects: HashMap<Name, IndexSet<Name>>,
    findings: &'f mut FindingList,
}

impl Merged {
    /// The interfaces of an object type that some subgraph has as an object.
    pub(crate) fn interfaces_with_objects(&self, object: &str) -> &[Name] {
        self.interfaces_with_objects.get(object).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Merges all types.
pub(crate) fn merge(sources: &[SubgraphSource], findings: &mut FindingList) -> Merged {
    let mut declared: IndexMap<Name, Vec<TypeDeclaration<'_>>> = IndexMap::default();
    for source in sources {
        for (name, ty) in &source.types {
            declared.entry(name.clone()).or_default().push(TypeDeclaration { source, ty });
        }
    }
    let uses = usage::of(sources);
    let mut merge = TypeMerge {
        sources,
        subtypes: subtypes(sources),
        inaccessible: HashSet::default(),
        interface_objects: HashMap::default(),
        findings,
    };
    let mut schema = Schema::new();
    schema.sources = merge.findings.texts.clone();
    for (name, declarations) in &declared {
        if !merge.same_kind(name, declarations) {
            continue;
        }
        merge.note_hidden_type(name, declarations);
        let ty = match declarations.first().map(|first| first.kind()) {
            Some(MergedKind::Scalar) => merge.scalar(name, declarations),
            Some(MergedKind::Object) => merge.object(name, declarations),
            Some(MergedKind::Interface) => merge.interface(name, declarations),
            Some(MergedKind::Union) => merge.union(name, declarations),
            Some(MergedKind::Enum) => merge.enumeration(name, declarations, uses.of(name)),
            Some(MergedKind::InputObject) => merge.input_object(name, declarations),
            None => continue,
        };
        schema.types.insert(name.clone(), ty);
    }
    merge.add_fields_of_interface_objects(&mut schema);
    schema
        .directive_definitions
        .extend(merge.directive_definitions().into_iter().map(|definition| (definition.name.clone(), definition)));
    merge.roots(&mut schema);
    let interfaces_with_objects = merge.interfaces_with_objects(&schema);
    Merged { schema, inaccessible: merge.inaccessible, interfaces_with_objects }
}

/// The kinds of types in the composed schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MergedKind {
    Scalar,
    Object,
    Interface,
    Union,
    Enum,
    InputObject,
}

impl MergedKind {
    fn text(self) -> &'static str {
        match self {
            MergedKind::Scalar => "a scalar",
            MergedKind::Object => "an object type",
            MergedKind::Interface => "an interface",
            MergedKind::Union => "a union",
            MergedKind::Enum => "an enum",
            MergedKind::InputObject => "an input object type",
        }
    }
}

impl TypeDeclaration<'_> {
    fn kind(&self) -> MergedKind {
        match &self.ty.definition {
            ExtendedType::Scalar(_) => MergedKind::Scalar,
            ExtendedType::Object(_) if self.ty.is_interface_object => MergedKind::Interface,
            ExtendedType::Object(_) => MergedKind::Object,
            ExtendedType::Interface(_) => MergedKind::Interface,
            ExtendedType::Union(_) => MergedKind::Union,
            ExtendedType::Enum(_) => MergedKind::Enum,
            ExtendedType::InputObject(_) => MergedKind::InputObject,
        }
    }

    /// Federation 1 lets one subgraph extend an enum or input object type of another. All values and fields of the extension count.
    fn adds(&self) -> bool {
        self.source.vocabulary.is_federation_1 && self.ty.is_extension
    }

    fn place(&self) -> Option<SourceSpan> {
        let extension = || self.ty.definition.iter_origins().find_map(|origin| origin.extension_id().and_then(|id| id.location()));
        match self.ty.is_extension {
            true => extension().or(self.ty.definition.name().location()),
            false => self.ty.definition.name().location(),
        }
    }
}

/// All types below each interface and union. A type is not below itself.
fn subtypes(sources: &[SubgraphSource]) -> HashMap<&Name, HashSet<&Name>> {
    let mut subtypes: HashMap<&Name, HashSet<&Name>> = HashMap::default();
    for (name, ty) in sources.iter().flat_map(|source| &source.types) {
        let above = match &ty.definition {
            ExtendedType::Object(object) => &object.implements_interfaces,
            ExtendedType::Interface(interface) => &interface.implements_interfaces,
            ExtendedType::Union(union) => {
                subtypes.entry(name).or_default().extend(union.members.iter().map(|member| &member.name));
                continue;
            }
            _ => continue,
        };
        for interface in above {
            subtypes.entry(&interface.name).or_default().insert(name);
        }
    }
    subtypes
}

impl<'s> TypeMerge<'s, '_> {
    fn same_kind(&mut self, name: &Name, declarations: &[TypeDeclaration<'_>]) -> bool {
        let Some(first) = declarations.first() else { return false };
        let other = declarations.iter().find(|declaration| declaration.kind() != first.kind());
        if let Some(other) = other {
            let message = format!(
                "`{name}` is {} here, but {} in the subgraph `{}`",
                other.kind().text(),
                first.kind().text(),
                first.source.name
            );
            self.findings.error(other.place(), message);
        }
        other.is_none()
    }

    fn note_hidden_type(&mut self, name: &Name, declarations: &[TypeDeclaration<'_>]) {
        let hidden = declarations.iter().any(|declaration| {
            let mut directives = declaration.ty.definition.directives().iter();
            directives.any(|directive| {
                declaration.source.vocabulary.directive(&directive.name) == Some(FederationDirective::Inaccessible)
            })
        });
        if hidden {
            self.inaccessible.insert(name.to_string());
        }
    }

    /// Notes a hidden element if one of the directives that it has in a subgraph hides it.
    fn note_hidden<'d>(
        &mut self,
        source: &SubgraphSource,
        directives: impl Iterator<Item = &'d Node<Directive>>,
        coordinate: impl FnOnce() -> String,
    ) {
        let mut directives = directives;
        if directives.any(|directive| source.vocabulary.directive(&directive.name) == Some(FederationDirective::Inaccessible)) {
            self.inaccessible.insert(coordinate());
        }
    }

    fn scalar(&mut self, name: &Name, declarations: &[TypeDeclaration<'_>]) -> ExtendedType {
        let lists = declarations.iter().map(|declaration| declaration.ty.definition.directives());
        let specified = lists.flat_map(|list| list.iter()).find(|directive| directive.name == "specifiedBy");
        let directives = DirectiveList(specified.map(|directive| plain(directive.node.clone())).into_iter().collect());
        ExtendedType::Scalar(Node::new(ScalarType { description: description(declarations), name: name.clone(), directives }))
    }

    fn object(&mut self, name: &Name, declarations: &[TypeDeclaration<'s>]) -> ExtendedType {
        let fields = self.fields(name, declarations);
        let implements_interfaces = implemented(declarations);
        let directives = DirectiveList::default();
        ExtendedType::Object(Node::new(ObjectType {
            description: description(declarations),
            name: name.clone(),
            implements_interfaces,
            directives,
            fields,
        }))
    }

    fn interface(&mut self, name: &Name, declarations: &[TypeDeclaration<'s>]) -> ExtendedType {
        let objects: Vec<&TypeDeclaration<'_>> =
            declarations.iter().filter(|declaration| declaration.ty.is_interface_object).collect();
        if !objects.is_empty() {
            self.interface_object(name, declarations);
            let added = objects.iter().flat_map(|object| object.ty.fields.keys().cloned()).collect();
            self.interface_objects.insert(name.clone(), added);
        }
        self.implementations_are_known(name, declarations);
        let fields = self.fields(name, declarations);
        let implements_interfaces = implemented(declarations);
        let directives = DirectiveList::default();
        ExtendedType::Interface(Node::new(InterfaceType {
            description: description(declarations),
            name: name.clone(),
            implements_interfaces,
            directives,
            fields,
        }))
    }

    /// A subgraph that finds an interface by key must know all that implement it.
    fn implementations_are_known(&mut self, name: &Name, declarations: &[TypeDeclaration<'_>]) {
        let mut all: IndexSet<&Name> = self.sources.iter().flat_map(|source| source.possible_types(name)).collect();
        all.retain(|object| *object != name);
        for declaration in declarations.iter().filter(|declaration| declaration.ty.definition.is_interface()) {
            let Some(key) = declaration.ty.keys.iter().find(|key| key.is_resolvable) else { continue };
            let known: HashSet<&Name> = declaration.source.possible_types(name).iter().collect();
            if let Some(missing) = all.iter().find(|object| !known.contains(*object)) {
                let message = format!(
                    "the interface `{name}` has a key here, so that `{missing}`, which implements it elsewhere, must do so here"
                );
                self.findings.error(key.place, message);
            }
        }
    }

    /// Somewhere there must be the interface itself, and what implements it must not be beside the interface object.
    fn interface_object(&mut self, name: &Name, declarations: &[TypeDeclaration<'_>]) {
        let (objects, interfaces): (Vec<&TypeDeclaration<'_>>, Vec<&TypeDeclaration<'_>>) =
            declarations.iter().partition(|declaration| declaration.ty.is_interface_object);
        if interfaces.is_empty() {
            let place = objects.first().and_then(|declaration| declaration.place());
            self.findings.error(place, format!("`{name}` has @interfaceObject here, but no subgraph has it as an interface"));
        }
        let implementing = self.subtypes.get(name).cloned().unwrap_or_default();
        for object in &objects {
            for implementation in
                object.source.types.iter().filter(|(of, ty)| implementing.contains(of) && ty.definition.is_object())
            {
                let message = format!(
                    "`{name}` has @interfaceObject here, so that `{}`, which implements it, must not be here",
                    implementation.0
                );
                self.findings.error(implementation.1.definition.name().location(), message);
            }
        }
    }

    fn union(&mut self, name: &Name, declarations: &[TypeDeclaration<'_>]) -> ExtendedType {
        let unions = declarations.iter().filter_map(|declaration| declaration.ty.definition.as_union());
        let members =
            unions.flat_map(|union| union.members.iter().map(|member| ComponentName::from(member.name.clone()))).collect();
        let directives = DirectiveList::default();
        ExtendedType::Union(Node::new(UnionType {
            description: description(declarations),
            name: name.clone(),
            directives,
            members,
        }))
    }

    /// As output, all values; as input, those that every subgraph takes; as both, all subgraphs must have the same.
    fn enumeration(&mut self, name: &Name, declarations: &[TypeDeclaration<'_>], used: usage::EnumUse) -> ExtendedType {
        let mut values: IndexMap<Name, Component<apollo_compiler::ast::EnumValueDefinition>> = IndexMap::default();
        let mut counts: HashMap<Name, usize> = HashMap::default();
        for declaration in declarations {
            let Some(of) = declaration.ty.definition.as_enum() else { continue };
            for (value_name, value) in &of.values {
                self.note_hidden(declaration.source, value.directives.iter(), || format!("{name}.{value_name}"));
                if !declaration.adds() {
                    *counts.entry(value_name.clone()).or_default() += 1;
                }
                let mut kept = (***value).clone();
                kept.directives = kept_directives(&kept.directives);
                let merged = values.entry(value_name.clone()).or_insert_with(|| plain(value.node.same_location(kept.clone())));
                fields::complete(merged.make_mut(), kept);
            }
        }
        let definitions = declarations.iter().filter(|declaration| !declaration.adds()).count();
        let everywhere = |value: &Name| counts.get(value).is_none_or(|count| *count >= definitions);
        if used.as_input && used.as_output {
            for value in values.keys().filter(|value| !everywhere(value) && !self.inaccessible.contains(&format!("{name}.{value}")))
            {
                let without = declarations
                    .iter()
                    .find(|declaration| declaration.ty.definition.as_enum().is_some_and(|of| !of.values.contains_key(value)));
                let message = format!(
                    "the value `{value}` of `{name}` is missing here; an enum that is input and output has the same values everywhere"
                );
                self.findings.error(without.and_then(TypeDeclaration::place), message);
            }
        } else if used.as_input {
            values.retain(|value, _| everywhere(value));
            if values.is_empty() {
                self.findings.error(
                    declarations.last().and_then(TypeDeclaration::place),
                    format!("no value of `{name}` is in every subgraph that has this input enum"),
                );
            }
        }
        let directives = DirectiveList::default();
        ExtendedType::Enum(Node::new(EnumType { description: description(declarations), name: name.clone(), directives, values }))
    }

    /// What an interface object adds, its implementations have.
    fn add_fields_of_interface_objects(&mut self, schema: &mut Schema) {
        for (interface, added) in &self.interface_objects {
            let Some(of) = schema.get_interface(interface) else { continue };
            let fields: Vec<_> = added
                .iter()
                .filter_map(|name| of.fields.get_key_value(name))
                .map(|(name, field)| (name.clone(), field.clone()))
                .collect();
            for ty in schema.types.values_mut() {
                let ExtendedType::Object(object) = ty else { continue };
                if !object.implements_interfaces.iter().any(|of| of.name == *interface) {
                    continue;
                }
                let object = object.make_mut();
                for (name, field) in &fields {
                    object.fields.entry(name.clone()).or_insert_with(|| field.clone());
                    if self.inaccessible.contains(&format!("{interface}.{name}")) {
                        self.inaccessible.insert(format!("{}.{name}", object.name));
                    }
                }
            }
        }
    }

    fn interfaces_with_objects(&self, schema: &Schema) -> HashMap<Name, Vec<Name>> {
        let objects = schema.types.iter().filter_map(|(name, ty)| Some((name, ty.as_object()?)));
        let interfaces = |object: &ObjectType| -> Vec<Name> {
            let implemented = object.implements_interfaces.iter().map(|interface| interface.name.clone());
            implemented.filter(|interface| self.interface_objects.contains_key(interface)).collect()
        };
        objects.map(|(name, object)| (name.clone(), interfaces(object))).filter(|(_, interfaces)| !interfaces.is_empty()).collect()
    }

    fn roots(&mut self, schema: &mut Schema) {
        let definition = schema.schema_definition.make_mut();
        for (name, root) in [
            ("Query", &mut definition.query),
            ("Mutation", &mut definition.mutation),
            ("Subscription", &mut definition.subscription),
        ] {
            *root = schema.types.get_key_value(name).filter(|(_, ty)| ty.is_object()).map(|(name, _)| name.clone().into());
        }
        if definition.query.is_none() {
            self.findings.error(None, "no subgraph has a query");
        }
    }

    /// The merged directives of executable documents.
    fn directive_definitions(&mut self) -> Vec<Node<DirectiveDefinition>> {
        directives::merge(self.sources, self.findings)
    }

    /// Whether values of a type are also values of another.
    fn is_subtype(&self, sub: &Type, of: &Type) -> bool {
        match (sub, of) {
            (Type::Named(sub) | Type::NonNullNamed(sub), Type::Named(of)) | (Type::NonNullNamed(sub), Type::NonNullNamed(of)) => {
                sub == of || self.subtypes.get(of).is_some_and(|below| below.contains(sub))
            }
            (Type::List(sub) | Type::NonNullList(sub), Type::List(of)) | (Type::NonNullList(sub), Type::NonNullList(of)) => {
                self.is_subtype(sub, of)
            }
            _ => false,
        }
    }
}

/// A component of the composed schema: extensions are not kept apart.
fn plain<T>(node: Node<T>) -> Component<T> {
    Component { origin: apollo_compiler::schema::ComponentOrigin::Definition, node }
}

/// The directives that clients see.
fn kept_directives(directives: &apollo_compiler::ast::DirectiveList) -> apollo_compiler::ast::DirectiveList {
    apollo_compiler::ast::DirectiveList(directives.iter().filter(|directive| directive.name == "deprecated").cloned().collect())
}

/// The description of the first subgraph that has one.
fn description(declarations: &[TypeDeclaration<'_>]) -> Option<Node<str>> {
    declarations.iter().find_map(|declaration| declaration.ty.definition.description().filter(|text| !text.is_empty()).cloned())
}

fn implemented(declarations: &[TypeDeclaration<'_>]) -> IndexSet<ComponentName> {
    let mut all = IndexSet::default();
    for declaration in declarations {
        let interfaces = match &declaration.ty.definition {
            ExtendedType::Object(object) => &object.implements_interfaces,
            ExtendedType::Interface(interface) => &interface.implements_interfaces,
            _ => continue,
        };
        all.extend(interfaces.iter().map(|interface| ComponentName::from(interface.name.clone())));
    }
    all
}
