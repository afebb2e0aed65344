//! `tollgate check`: reports problems in files without running the gateway.

use crate::cli::CheckOptions;
use crate::manifests::{check_manifests, has_manifests};
use crate::plugin_drivers::plugin_drivers;
use crate::secret_stores::connect;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tollgate_access::keys::Policies;
use tollgate_control::definitions::{DASHBOARD_FIELDS, DefinitionText, FILE_BYTES_MAX, load_routing_file, problems_together};
use tollgate_data::bundle_store::BundleStore;
use tollgate_data::registry::Registry;
use tollgate_data::settings::Settings;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::config::GatewayConfig;
use tollgate_model::definition_files::{ApiFile, api_files};
use tollgate_model::{Level, Problem, bounded_file};

/// Checks each file and prints its problems; fails if one has errors.
pub(crate) fn check(options: &CheckOptions) -> ExitCode {
    // A check reads more than once, and a device has no end.
    let named = options.files.iter().chain(&options.conf);
    if let Some(file) = named.into_iter().find(|file| file.exists() && !file.is_dir() && !file.is_file()) {
        say!("{}: not usable: it is a pipe or a device: write what is to be checked into a file", file.display());
        return ExitCode::FAILURE;
    }
    let (mut basis, mut failed) = basis(options);
    basis.settings.documents.warns_of_examples = options.examples;
    let Some(files) = files(options) else {
        say!("tollgate: no configuration is found: name one, or the files to check");
        return ExitCode::FAILURE;
    };
    let tables = load_routing_file(&basis.settings, &basis.registry);
    if !basis.settings.routing.tables_file.as_os_str().is_empty() {
        failed |= report(&basis.settings.routing.tables_file, &tables);
    }
    for file in &files {
        failed |= match file.is_dir() {
            true => check_directory(file, &basis),
            false if has_manifests(file) => check_manifests(file, &basis.settings, &basis.registry),
            false if is_definition(file) => check_definition(&ApiFile::at(file.clone()), &basis).is_none(),
            false => report(file, &config_problems(file)),
        };
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The files to check: those given, else the configuration with the directory of its definitions.
fn files(options: &CheckOptions) -> Option<Vec<PathBuf>> {
    if !options.files.is_empty() {
        return Some(options.files.clone());
    }
    let conf = options.conf.clone().or_else(GatewayConfig::default_file)?;
    let definitions = GatewayConfig::load_with(Some(&conf), std::env::vars(), &connect).ok().map(|(config, _)| config.app_path);
    Some([conf].into_iter().chain(definitions.filter(|path| path.is_dir())).collect())
}

/// What definitions are checked with.
struct CheckBasis {
    settings: Settings,
    registry: Arc<Registry>,
}

impl CheckBasis {
    fn new(config: &GatewayConfig) -> Self {
        let registry = Arc::new(Registry::default());
        // Nobody else waits here, and a plugin that takes long has its verdict in the end.
        registry.scripts.load_gate().wait_for_all();
        // Set once, here.
        let _ = registry.plugins.set(plugin_drivers(config, &registry, 1));
        let _ = registry.bundles.set(Arc::new(BundleStore::new(config)));
        CheckBasis { settings: Settings::new(config).with_errors(config).0, registry }
    }
}

/// What to check definitions with, and whether reading it failed. It comes from the given configuration, else from the first one among the
/// files, else from the one that `run` would find.
fn basis(options: &CheckOptions) -> (CheckBasis, bool) {
    let among_files = || options.files.iter().find(|file| !file.is_dir() && !has_manifests(file) && !is_definition(file)).cloned();
    let found = options.conf.clone().or_else(among_files).or_else(GatewayConfig::default_file);
    let none = || CheckBasis::new(&GatewayConfig::default());
    let Some(file) = found else { return (none(), false) };
    match GatewayConfig::load_with(Some(&file), std::env::vars(), &connect) {
        Ok((config, _)) => (CheckBasis::new(&config), false),
        Err(problems) => {
            // A file in the list is reported when it is checked itself.
            let is_reported = options.files.is_empty() || options.files.contains(&file);
            problems.iter().filter(|_| !is_reported).for_each(|problem| say!("{problem}"));
            (none(), !is_reported)
        }
    }
}

/// Whether a directory of definitions has errors: in a file, or in what the files are together. Every file in it is a definition, as for the
/// loader.
fn check_directory(directory: &Path, basis: &CheckBasis) -> bool {
    let files = match api_files(directory) {
        Ok(files) => files,
        Err(error) => {
            say!("{}: error: cannot be read: {error}", directory.display());
            return true;
        }
    };
    let checked: Vec<_> = files.iter().map(|file| (file.path.as_path(), check_definition(file, basis))).collect();
    let failed = checked.iter().any(|(_, api)| api.is_none());
    let is_here = |api: &Arc<CompiledApi>| basis.settings.has_tag_of(&api.tags);
    let usable: Vec<_> = checked.into_iter().filter_map(|(path, api)| Some((path, api.filter(is_here)?))).collect();
    let together = problems_together(&usable, &basis.settings, &basis.registry);
    together.iter().for_each(|problem| say!("{problem}"));
    failed || together.iter().any(Problem::is_error)
}

/// Checks one definition; the result is its API, unless it has errors.
fn check_definition(file: &ApiFile, basis: &CheckBasis) -> Option<Arc<CompiledApi>> {
    let compiled = match DefinitionText::read(file) {
        Err(error) => Err(vec![Problem::new(Level::Error, "", format!("cannot be read: {error}")).within(Some(&file.path))]),
        Ok(text) => text.compile(Some(file), &basis.settings, &basis.registry),
    };
    let (api, problems) = match compiled {
        Ok((api, problems)) => (Some(api), problems),
        Err(problems) => (None, problems),
    };
    report(&file.path, &problems);
    api.map(Arc::new)
}

/// Prints the problems of a file. Whether there are errors among them.
fn report(file: &Path, problems: &[Problem]) -> bool {
    for problem in problems {
        say!("{problem}");
    }
    let count = |level| problems.iter().filter(|problem| problem.level == level).count();
    let (errors, warnings, ignored) = (count(Level::Error), count(Level::Warning), count(Level::Ignored));
    let verdict = if errors > 0 { "not usable" } else { "ok" };
    say!("{}: {verdict}: {errors} errors, {warnings} warnings, {ignored} ignored fields", file.display());
    errors > 0
}

/// A JSON object with one of these fields is an API definition or is meant to be one; any other is configuration.
const DEFINITION_FIELDS: [&str; 6] = ["proxy", "api_id", "version_data", "openapi", "swagger", "x-tyk-api-gateway"];

fn is_definition(file: &Path) -> bool {
    let named_like_config = file.extension().is_some_and(|extension| extension != "json");
    let Ok(text) = bounded_file::read(file, FILE_BYTES_MAX as u64) else { return !named_like_config };
    match tollgate_openapi::read_text(&text) {
        Ok(value) => DEFINITION_FIELDS.iter().chain(&DASHBOARD_FIELDS).any(|field| value.get(field).is_some()),
        Err(_) => !named_like_config,
    }
}

fn config_problems(file: &Path) -> Vec<Problem> {
    match GatewayConfig::load_with(Some(file), std::env::vars(), &connect) {
        Err(problems) => problems,
        Ok((config, mut problems)) => {
            let (settings, found) = Settings::new(&config).with_errors(&config);
            let policies = &config.policies;
            let (_, in_policies) = Policies::load(&policies.policy_path, &policies.policy_record_name, &Policies::default());
            let found = found.into_iter().chain(problems_together(&[], &settings, &Registry::default())).chain(in_policies);
            problems.extend(found.map(|problem| if problem.file.is_some() { problem } else { problem.within(Some(file)) }));
            problems
        }
    }
}
