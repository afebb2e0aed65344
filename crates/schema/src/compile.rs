//! Compiles schemas of a document, each place once. Problems have the place of the keyword.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Number, Value};
use tollgate_model::{JsonPath, Level, Problem};

use crate::addresses::{Addresses, Placed};
use crate::dialect::Dialect;
use crate::equal::AllowedValues;
use crate::format::Format;
use crate::nodes::{Check, Discriminator, Node, PatternCheck, Properties, RequiredName, SchemaId, Schemas, Types};
use crate::pattern;
use crate::pointer::at_pointer;
use crate::property_table::PropertyTable;

/// Maximum nesting of a document: two hundred schemas in each other have twice as many levels. Deeper documents would need a deep stack wherever
/// they are walked.
pub const DEPTH_MAX: usize = 500;

/// Maximum schemas of one document: a few hundred bytes each, and real documents of 10 MB have fewer.
const SCHEMAS_MAX: usize = 1_000_000;

/// Compiles schemas, and remembers which places it has compiled.
pub struct SchemaCompiler<'d> {
    root: &'d Value,
    dialect: Dialect,
    /// Where schemas are by their addresses, in the drafts of JSON Schema. OpenAPI's documents refer by places and names.
    addresses: Option<Addresses<'d>>,
    nodes: Vec<Node>,
    by_place: HashMap<*const Value, SchemaId>,
    /// Schemas behind references, which are compiled after the schema that refers to them: a chain of references needs no deep stack.
    referred: Vec<(SchemaId, &'d Value, JsonPath)>,
    patterns: HashMap<&'d str, Option<Arc<PatternCheck>>>,
    /// Bytes that further patterns may take when they are compiled.
    pattern_bytes_left: usize,
    anchors: Option<HashMap<&'d str, Placed<'d>>>,
    /// Examples in schemas, if somebody wants them.
    examples: Option<Vec<SchemaExample<'d>>>,
    problems: Vec<Problem>,
}

/// A value that a schema has for itself.
pub struct SchemaExample<'d> {
    /// The schema.
    pub schema: SchemaId,
    /// The value.
    pub value: &'d Value,
    /// Its place.
    pub at: JsonPath,
    /// Whether it is the schema's default.
    pub is_default: bool,
}

impl<'d> SchemaCompiler<'d> {
    /// A compiler for schemas of an OpenAPI document.
    pub fn new(root: &'d Value, dialect: Dialect) -> Self {
        SchemaCompiler {
            root,
            dialect,
            addresses: None,
            nodes: Vec::new(),
            by_place: HashMap::new(),
            referred: Vec::new(),
            patterns: HashMap::new(),
            pattern_bytes_left: usize::MAX,
            anchors: None,
            examples: None,
            problems: Vec::new(),
        }
    }

    /// A compiler that also collects the examples and defaults of the schemas.
    pub fn with_examples(root: &'d Value, dialect: Dialect) -> Self {
        SchemaCompiler { examples: Some(Vec::new()), ..SchemaCompiler::new(root, dialect) }
    }

    /// A compiler for a schema that is a document, which may refer to others.
    pub fn of_draft(root: &'d Value, others: &'d [Value], dialect: Dialect) -> Self {
        let addresses = Addresses::of(root, others, dialect);
        SchemaCompiler { addresses: Some(addresses), ..SchemaCompiler::new(root, dialect) }
    }

    /// The same compiler; all patterns together take at most so many bytes when they are compiled.
    pub fn with_pattern_bytes(self, bytes_max: usize) -> Self {
        SchemaCompiler { pattern_bytes_left: bytes_max, ..self }
    }

    /// How many bytes further patterns may take.
    pub(crate) fn pattern_bytes_left(&self) -> usize {
        self.pattern_bytes_left
    }

    /// Takes what was collected.
    pub fn take_examples(&mut self) -> Vec<SchemaExample<'d>> {
        self.examples.take().unwrap_or_default()
    }

    /// The compiled schemas, and their problems.
    pub fn finish(self) -> (Schemas, Vec<Problem>) {
        let mut schemas = Schemas { nodes: self.nodes, contains_evaluates: self.dialect != Dialect::Draft2019 };
        schemas.complete();
        (schemas, self.problems)
    }

    /// The schema at a JSON pointer.
    pub fn at(&mut self, pointer: &str) -> SchemaId {
        match at_pointer(self.root, pointer) {
            Some((schema, at)) => self.schema(schema, &at),
            None => {
                self.error(&JsonPath::root(), format!("{pointer} is not in this document"));
                self.never()
            }
        }
    }

    /// The schema at a place of the document.
    pub fn schema(&mut self, schema: &'d Value, at: &JsonPath) -> SchemaId {
        let id = self.nested(schema, at, 0);
        while let Some((id, schema, at)) = self.referred.pop() {
            self.fill(id, schema, &at, 0);
        }
        id
    }

    fn nested(&mut self, schema: &'d Value, at: &JsonPath, depth: usize) -> SchemaId {
        match self.reserve(schema) {
            (id, true) => id,
            (id, false) => {
                self.fill(id, schema, at, depth);
                id
            }
        }
    }

    /// The schema behind a reference.
    fn referred(&mut self, schema: &'d Value, at: JsonPath) -> SchemaId {
        let (id, is_known) = self.reserve(schema);
        if !is_known {
            self.referred.push((id, schema, at));
        }
        id
    }

    /// The number of a schema, and whether it is compiled or about to be.
    fn reserve(&mut self, schema: &'d Value) -> (SchemaId, bool) {
        if let Some(known) = self.by_place.get(&std::ptr::from_ref(schema)) {
            return (*known, true);
        }
        let id = self.push(Node::default());
        self.by_place.insert(std::ptr::from_ref(schema), id);
        (id, false)
    }

    fn fill(&mut self, id: SchemaId, schema: &'d Value, at: &JsonPath, depth: usize) {
        if depth > DEPTH_MAX || self.nodes.len() > SCHEMAS_MAX {
            self.error(at, "schemas that are nested too deep, or too many of them");
            return;
        }
        let node = match schema {
            Value::Bool(true) => Node::default(),
            Value::Bool(false) => Node { checks: vec![Check::Never], ..Node::default() },
            Value::Object(members) => {
                self.collect_examples(id, members, at);
                self.node(schema, members, at, depth)
            }
            _ => {
                self.error(at, "must be a schema");
                Node::default()
            }
        };
        if let Some(place) = self.nodes.get_mut(id.0 as usize) {
            *place = node;
        }
    }

    fn collect_examples(&mut self, schema: SchemaId, members: &'d Map<String, Value>, at: &JsonPath) {
        let is_3_0 = self.dialect.is_3_0();
        // In 3.0, nothing beside a reference counts, and schemas have no list of examples.
        let Some(examples) = self.examples.as_mut().filter(|_| !(is_3_0 && members.contains_key("$ref"))) else { return };
        for (name, is_default) in [("example", false), ("default", true)] {
            let value = members.get(name);
            examples.extend(value.map(|value| SchemaExample { schema, value, at: at.key(name), is_default }));
        }
        if let Some(Value::Array(values)) = members.get("examples").filter(|_| !is_3_0) {
            let at = at.key("examples");
            let values = values.iter().enumerate();
            examples.extend(values.map(|(index, value)| SchemaExample { schema, value, at: at.index(index), is_default: false }));
        }
    }

    fn push(&mut self, node: Node) -> SchemaId {
        let id = SchemaId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    fn never(&mut self) -> SchemaId {
        self.push(Node { checks: vec![Check::Never], ..Node::default() })
    }

    fn node(&mut self, schema: &'d Value, members: &'d Map<String, Value>, at: &JsonPath, depth: usize) -> Node {
        let dialect = self.dialect;
        let mut node = Node { null_is_extra: dialect.is_3_0(), ..Node::default() };
        let dynamic = ["$dynamicRef", "$recursiveRef"].into_iter().find_map(|keyword| members.get(keyword)?.as_str());
        let dynamic = dynamic.filter(|_| dialect.has_draft_2019());
        for reference in members.get("$ref").and_then(Value::as_str).into_iter().chain(dynamic) {
            node.name = reference.to_owned();
            node.null_is_extra = false;
            match self.target(schema, reference) {
                Some((target, place)) => node.checks.push(Check::Reference(self.referred(target, place))),
                None => self.error(&at.key("$ref"), format!("{reference} is not in this document")),
            }
            if dialect.references_stand_alone() {
                return node;
            }
        }
        if node.checks.is_empty() {
            node.name = members.get("title").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        }
        let flag = |name: &str| members.get(name) == Some(&Value::Bool(true));
        node.nullable = dialect.is_3_0() && flag("nullable");
        node.read_only = !dialect.is_draft() && flag("readOnly");
        node.write_only = !dialect.is_draft() && flag("writeOnly");
        self.types(members, at, &mut node);
        let mut keywords = Keywords { compiler: self, members, at, depth, dialect, checks: Vec::new() };
        keywords.combinations();
        keywords.values();
        keywords.numbers();
        keywords.texts();
        keywords.lists();
        keywords.objects();
        node.checks.append(&mut keywords.checks);
        node
    }

    fn types(&mut self, members: &Map<String, Value>, at: &JsonPath, node: &mut Node) {
        let names: Vec<&Value> = match members.get("type") {
            None => return,
            Some(Value::Null) if !self.dialect.is_draft() => return,
            Some(Value::Array(names)) => names.iter().collect(),
            Some(name) => vec![name],
        };
        for name in names {
            match name.as_str().and_then(|name| Some((name, Types::named(name)?))) {
                Some((name, kind)) => {
                    node.types.0 |= kind;
                    node.type_names.push(name.to_owned());
                }
                None => self.error(&at.key("type"), "must be null, boolean, integer, number, string, array or object"),
            }
        }
    }

    /// The schema that a reference in a schema leads to.
    fn target(&mut self, from: &'d Value, reference: &str) -> Option<Placed<'d>> {
        if let Some(addresses) = &self.addresses {
            return addresses.target(std::ptr::from_ref(from), reference);
        }
        let root = self.root;
        if reference.starts_with("#/") || reference == "#" {
            return at_pointer(root, reference);
        }
        let anchors = self.anchors.get_or_insert_with(|| {
            let mut anchors = HashMap::new();
            collect_anchors(root, &JsonPath::root(), 0, &mut anchors);
            anchors
        });
        anchors.get(reference.strip_prefix('#')?).cloned()
    }

    fn pattern(&mut self, written: &'d str, at: &JsonPath) -> Option<Arc<PatternCheck>> {
        if let Some(known) = self.patterns.get(written) {
            return known.clone();
        }
        let compiled = match pattern::compile_within(written, self.pattern_bytes_left) {
            Ok(regex) => {
                self.pattern_bytes_left = self.pattern_bytes_left.saturating_sub(regex.memory_usage());
                Some(Arc::new(PatternCheck { written: written.to_owned(), regex }))
            }
            Err(why) => {
                self.error(at, why);
                None
            }
        };
        self.patterns.insert(written, compiled.clone());
        compiled
    }

    fn error(&mut self, at: &JsonPath, message: impl Into<String>) {
        self.problems.push(Problem::new(Level::Error, at.to_string(), message));
    }
}

fn collect_anchors<'d>(value: &'d Value, at: &JsonPath, depth: usize, anchors: &mut HashMap<&'d str, Placed<'d>>) {
    match value {
        Value::Object(members) if depth <= DEPTH_MAX => {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(anchor) = members.get(keyword).and_then(Value::as_str) {
                    anchors.entry(anchor).or_insert_with(|| (value, at.clone()));
                }
            }
            members.iter().for_each(|(name, member)| collect_anchors(member, &at.key(name), depth + 1, anchors));
        }
        Value::Array(items) if depth <= DEPTH_MAX => {
            items.iter().enumerate().for_each(|(index, item)| collect_anchors(item, &at.index(index), depth + 1, anchors));
        }
        _ => {}
    }
}

/// The keywords of one schema.
struct Keywords<'c, 'd> {
    compiler: &'c mut SchemaCompiler<'d>,
    members: &'d Map<String, Value>,
    at: &'c JsonPath,
    depth: usize,
    dialect: Dialect,
    checks: Vec<Check>,
}

impl<'d> Keywords<'_, 'd> {
    fn schema(&mut self, keyword: &str) -> Option<SchemaId> {
        let schema = self.members.get(keyword)?;
        Some(self.compiler.nested(schema, &self.at.key(keyword), self.depth + 1))
    }

    fn list(&mut self, keyword: &str) -> Option<Vec<SchemaId>> {
        let at = self.at.key(keyword);
        let Value::Array(schemas) = self.members.get(keyword)? else {
            self.compiler.error(&at, "must be a list of schemas");
            return None;
        };
        let ids = schemas.iter().enumerate().map(|(index, schema)| self.compiler.nested(schema, &at.index(index), self.depth + 1));
        Some(ids.collect())
    }

    fn map(&mut self, keyword: &str) -> Vec<(&'d String, SchemaId)> {
        let at = self.at.key(keyword);
        match self.members.get(keyword) {
            None => Vec::new(),
            Some(Value::Object(schemas)) => {
                schemas.iter().map(|(name, schema)| (name, self.compiler.nested(schema, &at.key(name), self.depth + 1))).collect()
            }
            Some(_) => {
                self.compiler.error(&at, "must be an object with schemas");
                Vec::new()
            }
        }
    }

    fn number(&mut self, keyword: &str) -> Option<Number> {
        match self.members.get(keyword)? {
            Value::Number(number) => Some(number.clone()),
            _ => {
                self.compiler.error(&self.at.key(keyword), "must be a number");
                None
            }
        }
    }

    fn count(&mut self, keyword: &str) -> Option<u64> {
        let number = self.number(keyword)?.as_f64()?;
        if number >= 0.0 && number.fract() == 0.0 {
            return Some(number as u64);
        }
        self.compiler.error(&self.at.key(keyword), "must be a whole number of at least 0");
        None
    }

    fn names(&mut self, keyword: &str) -> Option<Vec<RequiredName>> {
        let value = self.members.get(keyword)?;
        let names = value.as_array().and_then(|names| names.iter().map(|name| name.as_str().map(RequiredName::of)).collect());
        if names.is_none() {
            self.compiler.error(&self.at.key(keyword), "must be a list of names");
        }
        names
    }

    fn add(&mut self, check: Option<Check>) {
        self.checks.extend(check);
    }

    /// The order is that in which Tyk's validator looks at them, because the first mismatch is the one that clients are told.
    fn combinations(&mut self) {
        let not = self.schema("not").map(Check::Not);
        self.add(not);
        let discriminator = |schemas: &[SchemaId], keyword: &str, this: &Self| this.discriminator(schemas, keyword);
        if let Some(schemas) = self.list("oneOf").filter(|schemas| !schemas.is_empty()) {
            let discriminator = discriminator(&schemas, "oneOf", self);
            self.checks.push(Check::OneOf(schemas, discriminator));
        }
        if let Some(schemas) = self.list("anyOf").filter(|schemas| !schemas.is_empty()) {
            let discriminator = discriminator(&schemas, "anyOf", self);
            self.checks.push(Check::AnyOf(schemas, discriminator));
        }
        let all = self.list("allOf").filter(|schemas| !schemas.is_empty()).map(Check::AllOf);
        self.add(all);
        if self.dialect.has_conditions()
            && let Some(condition) = self.schema("if")
        {
            let (then, otherwise) = (self.schema("then"), self.schema("else"));
            self.checks.push(Check::If { condition, then, otherwise });
        }
    }

    fn discriminator(&self, schemas: &[SchemaId], keyword: &str) -> Option<Box<Discriminator>> {
        if self.dialect.is_draft() {
            return None;
        }
        let written = self.members.get("discriminator")?;
        let property = written.get("propertyName")?.as_str()?.to_owned();
        let items = self.members.get(keyword)?.as_array()?;
        let reference = |index: usize| items.get(index)?.get("$ref")?.as_str();
        let mut mapping = HashMap::new();
        // Without a mapping, a value is the name of a schema.
        for index in 0..schemas.len() {
            if let Some(name) = reference(index).and_then(|reference| reference.rsplit('/').next()) {
                mapping.insert(name.to_owned(), index);
            }
        }
        let listed = written.get("mapping").and_then(Value::as_object);
        for (value, target) in listed.into_iter().flatten() {
            let target = target.as_str().unwrap_or_default();
            let is_target = |reference: &str| reference == target || reference.rsplit('/').next() == Some(target);
            match (0..schemas.len()).find(|index| reference(*index).is_some_and(is_target)) {
                Some(index) => drop(mapping.insert(value.clone(), index)),
                None => drop(mapping.remove(value)),
            }
        }
        Some(Box::new(Discriminator { property, mapping, is_closed: listed.is_some_and(|listed| !listed.is_empty()) }))
    }

    fn values(&mut self) {
        let allowed = |values: &[Value]| Box::new(AllowedValues::new(values));
        match self.members.get("enum") {
            Some(Value::Array(values)) => self.checks.push(Check::Enum(allowed(values))),
            Some(_) if self.dialect.is_draft() => self.compiler.error(&self.at.key("enum"), "must be a list of values"),
            _ => {}
        }
        if let Some(value) = self.members.get("const").filter(|_| self.dialect.has_draft_6()) {
            self.checks.push(Check::Const(allowed(std::slice::from_ref(value))));
        }
    }

    fn numbers(&mut self) {
        let dialect = self.dialect;
        let flag = |keyword: &str| dialect.has_exclusive_flags() && self.members.get(keyword) == Some(&Value::Bool(true));
        let (above, below) = (flag("exclusiveMinimum"), flag("exclusiveMaximum"));
        let minimum =
            self.number("minimum").map(|bound| if above { Check::ExclusiveMinimum(bound) } else { Check::Minimum(bound) });
        let maximum =
            self.number("maximum").map(|bound| if below { Check::ExclusiveMaximum(bound) } else { Check::Maximum(bound) });
        for (keyword, check) in
            [("exclusiveMinimum", Check::ExclusiveMinimum as fn(Number) -> Check), ("exclusiveMaximum", Check::ExclusiveMaximum)]
        {
            let is_flag = dialect.has_exclusive_flags() && self.members.get(keyword).is_some_and(Value::is_boolean);
            if dialect.has_exclusive_bounds() && !is_flag {
                let bound = self.number(keyword).map(check);
                self.add(bound);
            }
        }
        self.add(minimum);
        self.add(maximum);
        match self.number("multipleOf") {
            Some(step) if step.as_f64().is_some_and(|step| step > 0.0) => self.checks.push(Check::MultipleOf(step)),
            Some(_) => self.compiler.error(&self.at.key("multipleOf"), "must be more than 0"),
            None => {}
        }
    }

    fn texts(&mut self) {
        let least = self.count("minLength").filter(|least| *least > 0).map(Check::MinLength);
        self.add(least);
        let most = self.count("maxLength").map(Check::MaxLength);
        self.add(most);
        if let Some(written) = self.members.get("pattern").and_then(Value::as_str) {
            let pattern = self.compiler.pattern(written, &self.at.key("pattern"));
            self.add(pattern.map(Check::Pattern));
        }
        let format = self.members.get("format").and_then(Value::as_str);
        let format = format.and_then(|name| Format::named(name, self.dialect));
        self.add(format.map(Check::Format));
    }

    fn lists(&mut self) {
        let least = self.count("minItems").filter(|least| *least > 0).map(Check::MinItems);
        self.add(least);
        let most = self.count("maxItems").map(Check::MaxItems);
        self.add(most);
        if self.members.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.checks.push(Check::UniqueItems);
        }
        self.items();
        if self.dialect.has_draft_6()
            && let Some(schema) = self.schema("contains")
        {
            let has_counts = self.dialect.has_draft_2019();
            let least = if has_counts { self.count("minContains") } else { None }.unwrap_or(1);
            let most = if has_counts { self.count("maxContains") } else { None };
            self.checks.push(Check::Contains { schema, least, most });
        }
        if self.dialect.has_draft_2019() {
            let rest = self.schema("unevaluatedItems").map(Check::UnevaluatedItems);
            self.add(rest);
        }
    }

    fn items(&mut self) {
        let has_prefix = self.dialect.has_prefix_items();
        if self.dialect.is_draft() && !has_prefix && self.members.get("items").is_some_and(Value::is_array) {
            let first = self.list("items").unwrap_or_default();
            let rest = match self.members.get("additionalItems") {
                Some(Value::Bool(false)) => {
                    self.checks.push(Check::NoMoreItems(first.len() as u64));
                    None
                }
                _ => self.schema("additionalItems"),
            };
            self.checks.push(Check::Items { first, rest });
            return;
        }
        let first = if has_prefix { self.list("prefixItems").unwrap_or_default() } else { Vec::new() };
        let rest = self.schema("items");
        if rest.is_some() || !first.is_empty() {
            self.checks.push(Check::Items { first, rest });
        }
    }

    fn objects(&mut self) {
        let is_3_0 = self.dialect.is_3_0();
        let least = self.count("minProperties").filter(|least| *least > 0).map(Check::MinProperties);
        self.add(least);
        let most = self.count("maxProperties").map(Check::MaxProperties);
        self.add(most);
        let named = PropertyTable::new(self.map("properties"));
        let mut properties = Properties { named, ..Properties::default() };
        if !is_3_0 {
            let at = self.at.key("patternProperties");
            for (written, schema) in self.map("patternProperties") {
                let pattern = self.compiler.pattern(written, &at.key(written));
                properties.patterns.extend(pattern.map(|pattern| (pattern, schema)));
            }
            if self.dialect.has_draft_6() {
                let names = self.schema("propertyNames").map(Check::PropertyNames);
                self.add(names);
            }
        }
        match self.members.get("additionalProperties") {
            Some(Value::Bool(false)) => properties.closed = true,
            Some(Value::Object(_)) => properties.others = self.schema("additionalProperties"),
            Some(Value::Bool(true)) => properties.is_open = true,
            None => {}
            Some(_) => self.compiler.error(&self.at.key("additionalProperties"), "must be true, false or a schema"),
        }
        // With an additional schema `true`, everything counts as evaluated.
        let evaluates = self.members.get("additionalProperties").is_some();
        if !properties.named.is_empty() || !properties.patterns.is_empty() || evaluates {
            self.checks.push(Check::Properties(Box::new(properties)));
        }
        let required = self.names("required").filter(|names| !names.is_empty()).map(Check::Required);
        self.add(required);
        if self.dialect.is_draft() {
            self.dependencies();
        }
        if self.dialect.has_draft_2019() {
            self.dependent();
        }
    }

    /// `dependencies` of the drafts: names, or a schema.
    fn dependencies(&mut self) {
        let Some(Value::Object(dependent)) = self.members.get("dependencies") else { return };
        let at = self.at.key("dependencies");
        let (mut names, mut schemas) = (Vec::new(), Vec::new());
        for (name, value) in dependent {
            match value {
                Value::Array(_) => names.push((name.clone(), required_names(value))),
                schema => schemas.push((name.clone(), self.compiler.nested(schema, &at.key(name), self.depth + 1))),
            }
        }
        self.add(Some(names).filter(|names| !names.is_empty()).map(Check::DependentRequired));
        self.add(Some(schemas).filter(|schemas| !schemas.is_empty()).map(Check::DependentSchemas));
    }

    fn dependent(&mut self) {
        if let Some(Value::Object(dependent)) = self.members.get("dependentRequired") {
            let names = dependent.iter().map(|(name, others)| (name.clone(), required_names(others)));
            self.checks.push(Check::DependentRequired(names.collect()));
        }
        let dependent = self.map("dependentSchemas");
        if !dependent.is_empty() {
            self.checks.push(Check::DependentSchemas(dependent.into_iter().map(|(name, schema)| (name.clone(), schema)).collect()));
        }
        let rest = self.schema("unevaluatedProperties").map(Check::UnevaluatedProperties);
        self.add(rest);
    }
}

fn required_names(value: &Value) -> Vec<RequiredName> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(RequiredName::of).collect()
}

impl RequiredName {
    fn of(name: &str) -> Self {
        RequiredName { name: name.to_owned(), read_only: false, write_only: false }
    }
}
