//! `tollgate check`: says what is wrong with files, without running anything.

use crate::compile::compile;
use crate::error_templates::ErrorTemplates;
use crate::registry::Registry;
use crate::reload::definition_files;
use crate::settings::Settings;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tollgate_model::api::ApiDefinition;
use tollgate_model::config::GatewayConfig;
use tollgate_model::{Level, Problem};

/// Checks each file and prints its problems; fails when one has errors.
pub fn check(files: &[PathBuf]) -> ExitCode {
    let mut failed = false;
    for file in files {
        failed |= if file.is_dir() { check_directory(file) } else { check_file(file) };
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn check_directory(directory: &Path) -> bool {
    match definition_files(directory) {
        Ok(files) => files.iter().map(|file| check_file(file)).fold(false, |failed, one| failed | one),
        Err(error) => {
            println!("{}: error: cannot be read: {error}", directory.display());
            true
        }
    }
}

/// Whether the file has errors.
fn check_file(file: &Path) -> bool {
    let problems = if is_definition(file) { definition_problems(file) } else { config_problems(file) };
    for problem in &problems {
        println!("{problem}");
    }
    let count = |level| problems.iter().filter(|problem| problem.level == level).count();
    let (errors, warnings, ignored) = (count(Level::Error), count(Level::Warning), count(Level::Ignored));
    let verdict = if errors > 0 { "not usable" } else { "ok" };
    println!("{}: {verdict}: {errors} errors, {warnings} warnings, {ignored} ignored fields", file.display());
    errors > 0
}

/// A JSON object with a `proxy` or an `api_id` is an API definition; the rest is configuration.
fn is_definition(file: &Path) -> bool {
    let named_like_config = file.extension().is_some_and(|extension| extension != "json");
    let Ok(text) = std::fs::read(file) else { return !named_like_config };
    match serde_json::from_slice::<serde_json::Value>(&text) {
        Ok(value) => ["proxy", "api_id", "version_data"].iter().any(|field| value.get(field).is_some()),
        Err(_) => !named_like_config,
    }
}

fn definition_problems(file: &Path) -> Vec<Problem> {
    let text = match std::fs::read(file) {
        Ok(text) => text,
        Err(error) => return vec![Problem::new(Level::Error, "", format!("cannot be read: {error}")).within(Some(file))],
    };
    let settings = Settings::new(&GatewayConfig::default());
    let lookup = |scheme: &str, name: &str| settings.secrets.lookup(scheme, name);
    match ApiDefinition::parse_with(&text, Some(file), &lookup) {
        Err(problems) => problems,
        Ok((definition, mut problems)) => {
            let compiled = compile(&definition, &settings, &Arc::new(Registry::default()), Some(file));
            problems.extend(compiled.map_or_else(|more| more, |(_, more)| more));
            problems
        }
    }
}

fn config_problems(file: &Path) -> Vec<Problem> {
    match GatewayConfig::load(Some(file), std::env::vars()) {
        Err(problems) => problems,
        Ok((config, mut problems)) => {
            problems.extend(ErrorTemplates::load(&config.template_path).1);
            problems
        }
    }
}
