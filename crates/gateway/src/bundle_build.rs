//! `tollgate bundle build`: makes a bundle of plugins from a manifest and its files.

use crate::cli::{BundleCommand, BundleOptions};
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use tollgate_plugin::bundle::{ArchivedFile, Bundle, Manifest, SigningKey};

/// Runs the command.
pub(crate) fn bundle(command: &BundleCommand) -> ExitCode {
    let BundleCommand::Build(options) = command;
    match build(options) {
        Ok(said) => {
            say!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("tollgate: {why}");
            ExitCode::FAILURE
        }
    }
}

fn build(options: &BundleOptions) -> Result<String, String> {
    let named = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let read = |path: &Path| fs::read(path).map_err(|error| named(path, &error));
    let manifest = Manifest::parse(&read(&options.manifest)?).map_err(|why| named(&options.manifest, &why))?;
    let directory = options.manifest.parent().unwrap_or(Path::new(""));
    let listed = manifest.file_list.iter();
    let files = listed.map(|name| Ok(ArchivedFile { name: name.clone(), content: read(&directory.join(name))? }));
    let files: Vec<ArchivedFile> = files.collect::<Result<_, String>>()?;
    let key = match &options.key {
        None => None,
        Some(path) => Some(SigningKey::from_pem(&read(path)?).map_err(|why| named(path, &why))?),
    };
    let archive = Bundle::build(manifest, files, key.as_ref()).map_err(|why| named(&options.manifest, &why))?;
    fs::write(&options.output, &archive).map_err(|error| named(&options.output, &error))?;
    let signed = if key.is_some() { "signed" } else { "not signed" };
    Ok(format!("{}: {} bytes, {signed}", options.output.display(), archive.len()))
}
