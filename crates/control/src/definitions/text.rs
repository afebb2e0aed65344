//! Reads an API definition in either language, classic or OpenAPI, and compiles it. An OpenAPI document has the same settings as a classic
//! definition in `x-tyk-api-gateway`; both become the same [`ApiDefinition`].

use crate::compile::compile;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tollgate_data::registry::Registry;
use tollgate_data::settings::Settings;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::api::ApiDefinition;
use tollgate_model::definition_files::{ApiFile, CompanionKind, Companions};
use tollgate_model::{Level, Problem, bounded_file, json_document};
use tollgate_openapi::mcp_mark;
use tollgate_openapi::{ClassicForm, Document, ExampleKinds, check_examples, classic_form, is_openapi, read_text};

/// Maximum size of a definition; a longer file is there by mistake.
pub const FILE_BYTES_MAX: usize = 16 << 20;

/// What Tyk's dashboard exports has one of these fields, with definitions in it.
pub const DASHBOARD_FIELDS: [&str; 3] = ["api_definition", "api_model", "apis"];

/// Maximum differences between the files of a pair that a warning names.
const DIFFERENCES_MAX: usize = 10;

/// The texts of one definition.
#[derive(Hash)]
pub struct DefinitionText {
    /// The definition: a classic one or an OpenAPI document.
    pub text: Vec<u8>,
    /// The OpenAPI documents that may belong to a classic definition.
    pub companions: Companions<Vec<u8>>,
}

impl DefinitionText {
    /// Reads the files of a definition.
    pub fn read(file: &ApiFile) -> io::Result<Self> {
        let read = |path: &Path| bounded_file::read(path, FILE_BYTES_MAX as u64);
        let companions = file.companions.try_map(|path| read(path))?;
        Ok(DefinitionText { text: read(&file.path)?, companions })
    }

    /// A definition that is no file yet.
    pub fn of(text: &[u8]) -> Self {
        DefinitionText { text: text.to_owned(), companions: Companions::default() }
    }

    /// The size of the longest of the texts.
    pub(super) fn bytes_max(&self) -> usize {
        self.companions.iter().map(Vec::len).fold(self.text.len(), usize::max)
    }

    /// A digest that is the same in all processes.
    pub fn digest(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.text);
        let mut before = &self.text;
        for companion in self.companions.iter() {
            // The length keeps the texts apart.
            hasher.update(&(before.len() as u64).to_le_bytes()).update(companion);
            before = companion;
        }
        hasher.finalize()
    }

    /// Reads the definition; the language decides what it is.
    ///
    /// # Errors
    /// All problems, if there is an error among them.
    pub fn parse(&self, file: Option<&ApiFile>) -> Result<ReadDefinition, Vec<Problem>> {
        let path = file.map(|file| file.path.as_path());
        let error = |message, path| vec![Problem::new(Level::Error, "", message).within(path)];
        let mut value = parse(&self.text, path).map_err(|message| error(message, path))?;
        let kind = if is_openapi(&value) { None } else { companion_kind(&value) };
        let Some((kind, companion)) = kind.and_then(|kind| Some((kind, self.companions.get(kind)?))) else {
            if kind == Some(CompanionKind::Mcp) {
                let message =
                    "the OpenAPI document of this definition is missing, which has the rules for tools, resources and prompts";
                return Err(vec![Problem::new(Level::Error, "$.is_oas", message).within(path)]);
            }
            if is_openapi(&value) && path.and_then(CompanionKind::of_file) == Some(CompanionKind::Mcp) {
                mcp_mark::add(&mut value);
            }
            return ReadDefinition::new(value, path);
        };
        refuse_dashboard(&value, path)?;
        let path = file.and_then(|file| file.companions.get(kind)).map(PathBuf::as_path).or(path);
        let mut document = parse(companion, path).map_err(|message| error(message, path))?;
        if kind == CompanionKind::Mcp {
            mcp_mark::add(&mut document);
        }
        let mut definition = OpenApiDefinition::new(document, path)?;
        definition.compare(&value, path);
        Ok(ReadDefinition::OpenApi(definition, path.map(Path::to_owned)))
    }

    /// Parses, checks and compiles the definition. The result is the API with its lesser problems, or all problems.
    pub fn compile(&self, file: Option<&ApiFile>, settings: &Settings, registry: &Arc<Registry>) -> CompiledDefinition {
        self.parse(file)?.compile(file.map(|file| file.path.as_path()), settings, registry)
    }
}

/// A compiled API with lesser problems, or all problems.
pub(super) type CompiledDefinition = Result<(CompiledApi, Vec<Problem>), Vec<Problem>>;

/// A definition that was read.
pub enum ReadDefinition {
    Classic(Value),
    /// With the file that it was read from, if that is a companion.
    OpenApi(OpenApiDefinition, Option<PathBuf>),
}

impl ReadDefinition {
    /// A definition in either language. `file` is named in problems.
    ///
    /// # Errors
    /// All problems, if there is an error among them.
    pub fn new(value: Value, file: Option<&Path>) -> Result<Self, Vec<Problem>> {
        refuse_dashboard(&value, file)?;
        Ok(match is_openapi(&value) {
            true => ReadDefinition::OpenApi(OpenApiDefinition::new(value, file)?, None),
            false => ReadDefinition::Classic(value),
        })
    }

    /// The definition as it was written.
    pub fn written(&self) -> &Value {
        match self {
            ReadDefinition::Classic(value) => value,
            ReadDefinition::OpenApi(definition, _) => &definition.document.root,
        }
    }

    /// The definition in the classic language.
    pub fn classic(&self) -> &Value {
        match self {
            ReadDefinition::Classic(value) => value,
            ReadDefinition::OpenApi(definition, _) => &definition.form.definition,
        }
    }

    /// Whether it is a proxy for the Model Context Protocol.
    pub fn is_mcp(&self) -> bool {
        is_mcp(self.classic())
    }

    /// The kind of companion that an OpenAPI document is, unless it stands alone.
    pub(super) fn companion_kind(&self) -> Option<CompanionKind> {
        match self {
            ReadDefinition::Classic(_) => None,
            ReadDefinition::OpenApi(..) => companion_kind(self.classic()),
        }
    }

    /// The texts of its files; an OpenAPI document is the companion of its classic form, unless it stands alone.
    pub fn texts(&self, stands_alone: bool) -> DefinitionText {
        let pretty = |value: &Value| serde_json::to_vec_pretty(value).unwrap_or_default();
        match self.companion_kind().filter(|_| !stands_alone) {
            // The name of the file says what the mark says.
            Some(CompanionKind::Mcp) => {
                let document = pretty(&mcp_mark::without(self.written().clone()));
                DefinitionText { text: pretty(self.classic()), companions: Companions::only(CompanionKind::Mcp, document) }
            }
            Some(kind) => {
                let companions = Companions::only(kind, pretty(self.written()));
                DefinitionText { text: pretty(self.classic()), companions }
            }
            None => DefinitionText { text: pretty(self.written()), companions: Companions::default() },
        }
    }

    /// Checks and compiles the definition. `file` is named in problems.
    pub fn compile(self, file: Option<&Path>, settings: &Settings, registry: &Arc<Registry>) -> CompiledDefinition {
        let value = match self {
            ReadDefinition::OpenApi(definition, companion) => {
                return definition.compile(companion.as_deref().or(file), settings, registry);
            }
            ReadDefinition::Classic(value) => value,
        };
        let lookup = |scheme: &str, name: &str| settings.documents.secrets.lookup_in_definition(scheme, name);
        let is_alone = companion_kind(&value).is_some();
        let (definition, mut problems) = ApiDefinition::from_value(value, file, &lookup)?;
        if is_alone {
            let message = "the OpenAPI document of this definition is missing: the definition is served without it";
            problems.push(Problem::new(Level::Warning, "$.is_oas", message).within(file));
        }
        match compile(&definition, None, settings, registry, file) {
            Ok((api, more)) => Ok((api, problems.into_iter().chain(more).collect())),
            Err(more) => Err(problems.into_iter().chain(more).collect()),
        }
    }
}

/// The kind of the OpenAPI document that a classic definition says it has.
fn companion_kind(classic: &Value) -> Option<CompanionKind> {
    let is_pair = classic.get("is_oas") == Some(&Value::Bool(true));
    is_pair.then(|| if is_mcp(classic) { CompanionKind::Mcp } else { CompanionKind::OpenApi })
}

fn is_mcp(classic: &Value) -> bool {
    classic.get("application_protocol").and_then(Value::as_str) == Some("mcp")
}

fn refuse_dashboard(value: &Value, file: Option<&Path>) -> Result<(), Vec<Problem>> {
    let Some(field) = DASHBOARD_FIELDS.iter().find(|field| value.get(field).is_some()) else { return Ok(()) };
    let message = "an export of Tyk's dashboard, not a definition: save each `api_definition` in it as a file of its own";
    Err(vec![Problem::new(Level::Error, format!("$.{field}"), message).within(file)])
}

/// An OpenAPI document with its settings as classic definition.
pub struct OpenApiDefinition {
    document: Arc<Document>,
    form: ClassicForm,
    problems: Vec<Problem>,
}

impl OpenApiDefinition {
    fn new(document: Value, file: Option<&Path>) -> Result<Self, Vec<Problem>> {
        let in_file = |problems: Vec<Problem>| problems.into_iter().map(|problem| problem.within(file)).collect::<Vec<_>>();
        let (document, problems) = Document::new(document).map_err(in_file)?;
        let mut form = classic_form(&document);
        let mut problems = in_file(problems);
        problems.extend(in_file(std::mem::take(&mut form.problems)));
        if problems.iter().any(Problem::is_error) {
            return Err(problems);
        }
        Ok(OpenApiDefinition { document: Arc::new(document), form, problems })
    }

    /// Warns if the classic file of a pair says something else than the document, which applies.
    fn compare(&mut self, classic: &Value, file: Option<&Path>) {
        let mut places = Vec::new();
        differences(classic, &self.form.definition, "$", &mut places);
        if places.is_empty() {
            return;
        }
        let more = places.len().saturating_sub(DIFFERENCES_MAX);
        let named = places.iter().take(DIFFERENCES_MAX).cloned().collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("this document applies; the classic definition beside it differs in {named}{more}");
        self.problems.push(Problem::new(Level::Warning, "", message).within(file));
    }

    fn compile(self, file: Option<&Path>, settings: &Settings, registry: &Arc<Registry>) -> CompiledDefinition {
        let OpenApiDefinition { document, form, problems } = self;
        // A document that was posted was no file yet.
        let mut problems: Vec<Problem> = problems.into_iter().map(|problem| problem.within(file)).collect();
        problems.extend(example_problems(&document, settings).into_iter().map(|problem| problem.within(file)));
        if problems.iter().any(Problem::is_error) {
            return Err(problems);
        }
        let lookup = |scheme: &str, name: &str| settings.documents.secrets.lookup_in_definition(scheme, name);
        let relocated = |more: Vec<Problem>| more.into_iter().map(|problem| form.relocated(problem)).collect::<Vec<_>>();
        let (definition, more) = match ApiDefinition::from_value(form.definition.clone(), file, &lookup) {
            Ok(read) => read,
            Err(more) => return Err(problems.into_iter().chain(relocated(more)).collect()),
        };
        problems.extend(relocated(more));
        match compile(&definition, Some(&document), settings, registry, file) {
            Ok((api, more)) => Ok((api, problems.into_iter().chain(relocated(more)).collect())),
            Err(more) => Err(problems.into_iter().chain(relocated(more)).collect()),
        }
    }
}

/// Examples and defaults that do not fit, if the configuration wants to know.
fn example_problems(document: &Document, settings: &Settings) -> Vec<Problem> {
    let strict = settings.documents.oas;
    let errors = ExampleKinds { examples: strict.validate_examples, defaults: strict.validate_schema_defaults };
    let warns = settings.documents.warns_of_examples;
    let warnings = ExampleKinds { examples: warns && !errors.examples, defaults: warns && !errors.defaults };
    let is_any = |kinds: &ExampleKinds| kinds.examples || kinds.defaults;
    let asked = [(errors, Level::Error), (warnings, Level::Warning)].into_iter().filter(|(kinds, _)| is_any(kinds));
    asked.flat_map(|(kinds, level)| check_examples(document, kinds, level)).collect()
}

/// Places where a classic definition contradicts the classic form of a document.
fn differences(classic: &Value, form: &Value, at: &str, places: &mut Vec<String>) {
    match (classic, form) {
        (Value::Object(classic), Value::Object(form)) => {
            for (name, form) in form {
                if let Some(classic) = classic.get(name) {
                    differences(classic, form, &format!("{at}.{name}"), places);
                }
            }
        }
        (Value::Null, _) => {}
        // Lists of endpoints may have entries without effect that only one of the two writes.
        (Value::Array(_), Value::Array(_)) if at.contains("extended_paths") => {}
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {}
        (classic, form) if classic == form => {}
        _ => places.push(at.to_owned()),
    }
}

/// Parses JSON, or YAML if the file is named so.
fn parse(text: &[u8], file: Option<&Path>) -> Result<Value, String> {
    let is_yaml = file.and_then(Path::extension).is_some_and(|extension| extension == "yaml" || extension == "yml");
    if is_yaml { read_text(text) } else { json_document::from_slice(text).map_err(|error| format!("not valid JSON: {error}")) }
}
