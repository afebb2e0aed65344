//! Settings of all scripts, and the files that they are in.

use std::path::{Path, PathBuf};
use std::time::Duration;
use tollgate_javascript::{ProgramBuilder, Scope, ScriptLimits};
use tollgate_model::bounded_file;
use tollgate_model::config::GatewayConfig;

/// Default time of one call, as in Tyk.
const TIME_MAX: Duration = Duration::from_secs(5);
/// Memory of an engine with one API's scripts, during one call. Loading takes less than 1 MiB.
const MEMORY_BYTES_MAX: usize = 64 << 20;
/// Largest file that is loaded as a script.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// Settings of all scripts.
#[derive(Clone, Debug)]
pub struct ScriptSettings {
    pub limits: ScriptLimits,
    /// Whether definitions may contain scripts.
    pub allows_blobs: bool,
    /// A script that is loaded before those of each API.
    library: Option<PathBuf>,
}

impl ScriptSettings {
    /// The settings of a configuration that allows scripts.
    pub fn new(config: &GatewayConfig) -> Option<Self> {
        let seconds = config.jsvm_timeout;
        config.enable_jsvm.then(|| ScriptSettings {
            limits: ScriptLimits {
                time_max: if seconds == 0 { TIME_MAX } else { Duration::from_secs(seconds) },
                memory_bytes_max: MEMORY_BYTES_MAX,
            },
            allows_blobs: !config.disable_virtual_path_blobs,
            library: Some(config.tyk_js_path.clone()).filter(|path| !path.as_os_str().is_empty()),
        })
    }

    /// A program that begins with the operator's library.
    pub fn program(&self) -> Result<ProgramBuilder, String> {
        let mut builder = ProgramBuilder::default();
        if let Some(library) = &self.library {
            builder.source(&library.to_string_lossy(), read_script(library)?, Scope::Shared);
        }
        Ok(builder)
    }
}

/// Reads a script's file.
pub fn read_script(path: &Path) -> Result<String, String> {
    tollgate_model::readable_files::note(path);
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    bounded_file::read_text(path, FILE_BYTES_MAX).map_err(told)
}
