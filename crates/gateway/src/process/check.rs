//! `tollgate check`: reports problems in files without running the gateway.

use crate::base::bundle_store::BundleStore;
use crate::base::definition_files::{ApiFile, api_files};
use crate::base::secret_stores::connect;
use crate::control::definition::DefinitionText;
use crate::data::registry::Registry;
use crate::data::settings::Settings;
use crate::process::cli::CheckOptions;
use crate::process::plugin_drivers::plugin_drivers;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tollgate_model::config::GatewayConfig;
use tollgate_model::{Level, Problem};

/// Checks each file and prints its problems; fails if one has errors.
pub(crate) fn check(options: &CheckOptions) -> ExitCode {
    let (mut basis, mut failed) = basis(options);
    basis.settings.warns_of_examples = options.examples;
    let Some(files) = files(options) else {
        println!("tollgate: no configuration is found: name one, or the files to check");
        return ExitCode::FAILURE;
    };
    for file in &files {
        failed |= if file.is_dir() { check_directory(file, &basis) } else { check_file(file, &basis) };
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
    config: GatewayConfig,
    settings: Settings,
}

impl CheckBasis {
    fn new(config: GatewayConfig) -> Self {
        CheckBasis { settings: Settings::new(&config).with_errors(&config).0, config }
    }
}

/// What to check definitions with, and whether reading it failed. It comes from the given configuration, else from the first one among the
/// files, else from the one that `run` would find.
fn basis(options: &CheckOptions) -> (CheckBasis, bool) {
    let among_files = || options.files.iter().find(|file| !file.is_dir() && !is_definition(file)).cloned();
    let found = options.conf.clone().or_else(among_files).or_else(GatewayConfig::default_file);
    let none = || {
        let config = GatewayConfig::default();
        CheckBasis { settings: Settings::new(&config), config }
    };
    let Some(file) = found else { return (none(), false) };
    match GatewayConfig::load_with(Some(&file), std::env::vars(), &connect) {
        Ok((config, _)) => (CheckBasis::new(config), false),
        Err(problems) => {
            // A file in the list is reported when it is checked itself.
            let is_reported = options.files.is_empty() || options.files.contains(&file);
            problems.iter().filter(|_| !is_reported).for_each(|problem| println!("{problem}"));
            (none(), !is_reported)
        }
    }
}

fn check_directory(directory: &Path, basis: &CheckBasis) -> bool {
    match api_files(directory) {
        Ok(files) => files.iter().map(|file| check_file(&file.path, basis)).fold(false, |failed, one| failed | one),
        Err(error) => {
            println!("{}: error: cannot be read: {error}", directory.display());
            true
        }
    }
}

/// Whether the file has errors.
fn check_file(file: &Path, basis: &CheckBasis) -> bool {
    let problems = if is_definition(file) { definition_problems(file, basis) } else { config_problems(file) };
    for problem in &problems {
        println!("{problem}");
    }
    let count = |level| problems.iter().filter(|problem| problem.level == level).count();
    let (errors, warnings, ignored) = (count(Level::Error), count(Level::Warning), count(Level::Ignored));
    let verdict = if errors > 0 { "not usable" } else { "ok" };
    println!("{}: {verdict}: {errors} errors, {warnings} warnings, {ignored} ignored fields", file.display());
    errors > 0
}

/// A JSON object with one of these fields is an API definition or is meant to be one; any other is configuration.
const DEFINITION_FIELDS: [&str; 6] = ["proxy", "api_id", "version_data", "openapi", "swagger", "x-tyk-api-gateway"];

fn is_definition(file: &Path) -> bool {
    let named_like_config = file.extension().is_some_and(|extension| extension != "json");
    let Ok(text) = std::fs::read(file) else { return !named_like_config };
    match tollgate_openapi::read_text(&text) {
        Ok(value) => DEFINITION_FIELDS.iter().any(|field| value.get(field).is_some()),
        Err(_) => !named_like_config,
    }
}

fn definition_problems(file: &Path, basis: &CheckBasis) -> Vec<Problem> {
    let file = ApiFile::at(file.to_owned());
    match DefinitionText::read(&file) {
        Err(error) => vec![Problem::new(Level::Error, "", format!("cannot be read: {error}")).within(Some(&file.path))],
        Ok(text) => {
            let registry = Arc::new(Registry::default());
            // Nobody else waits here, and a plugin that takes long has its verdict in the end.
            registry.scripts.load_gate().wait_for_all();
            // Set once, here.
            let _ = registry.plugins.set(plugin_drivers(&basis.config, &registry, 1));
            let _ = registry.bundles.set(Arc::new(BundleStore::new(&basis.config)));
            let compiled = text.compile(Some(&file), &basis.settings, &registry);
            compiled.map_or_else(|problems| problems, |(_, problems)| problems)
        }
    }
}

fn config_problems(file: &Path) -> Vec<Problem> {
    match GatewayConfig::load_with(Some(file), std::env::vars(), &connect) {
        Err(problems) => problems,
        Ok((config, mut problems)) => {
            problems.extend(Settings::new(&config).with_errors(&config).1.into_iter().map(|problem| match problem.file {
                None => problem.within(Some(file)),
                Some(_) => problem,
            }));
            problems
        }
    }
}
