//! Modules as machine code. A module is compiled once, however many hooks use it and however often definitions are loaded.

use crate::abi::{self, ABI_MODULE};
use crate::abi_status::AbiStatus;
use crate::host::Host;
use crate::limits::{MEMORY_BYTES_MAX, MODULE_BYTES_MAX};
use crate::ticker::Ticker;
use crate::wasi::{self, NOT_SUPPORTED, WASI_MODULES};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use wasmtime::{Config, Engine, ExternType, FuncType, ImportType, InstancePre, Linker, Module, Val};

/// What all modules share.
pub(crate) struct WasmEngine {
    pub engine: Engine,
    pub ticker: Ticker,
    linker: Linker<Host>,
    /// Modules in use, by the digest of their files.
    modules: Mutex<HashMap<[u8; 32], Weak<CompiledModule>>>,
}

/// A module, ready to be instantiated.
pub(crate) struct CompiledModule {
    pub instance: InstancePre<Host>,
}

/// The functions by which a module says which interface it has.
const ABI_VERSIONS: [&str; 2] = ["proxy_abi_version_0_2_1", "proxy_abi_version_0_2_0"];

impl WasmEngine {
    pub(crate) fn new() -> Result<Self, String> {
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            // A call that fails tells why in its log; addresses help nobody.
            .wasm_backtrace_max_frames(None)
            // Memory never moves, and no instance takes more addresses than it may have memory.
            .memory_reservation(MEMORY_BYTES_MAX as u64)
            .memory_may_move(false)
            .wasm_multi_memory(false)
            .wasm_memory64(false);
        let engine = Engine::new(&config).map_err(|error| format!("WebAssembly can't run here: {error}"))?;
        let mut linker = Linker::new(&engine);
        abi::add_to(&mut linker).and_then(|()| wasi::add_to(&mut linker)).map_err(|error| error.to_string())?;
        let ticker = Ticker::start(&engine).map_err(|error| format!("no thread for the clock of plugins: {error}"))?;
        Ok(WasmEngine { engine, ticker, linker, modules: Mutex::default() })
    }

    /// The module with these bytes. Compiling it may take seconds.
    pub(crate) fn module(&self, bytes: &[u8]) -> Result<Arc<CompiledModule>, String> {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        let known = |modules: &HashMap<_, Weak<CompiledModule>>| modules.get(&digest).and_then(Weak::upgrade);
        if let Some(module) = known(&self.modules.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(module);
        }
        let module = self.compile(bytes)?;
        let module = Arc::new(module);
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.retain(|_, module| module.strong_count() > 0);
        modules.insert(digest, Arc::downgrade(&module));
        Ok(module)
    }

    fn compile(&self, bytes: &[u8]) -> Result<CompiledModule, String> {
        // The error has several lines; a line of the log has one.
        let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let module = Module::from_binary(&self.engine, bytes)
            .map_err(|error| format!("is no module: {}", one_line(format!("{error:#}"))))?;
        if !ABI_VERSIONS.iter().any(|name| module.get_export(name).is_some()) {
            return Err(format!("is no plugin of the proxy-wasm interface: it exports neither {}", ABI_VERSIONS.join(" nor ")));
        }
        let mut linker = self.linker.clone();
        for import in module.imports() {
            answer_if_unknown(&mut linker, &import);
        }
        let instance = linker.instantiate_pre(&module).map_err(|error| {
            let why = error.root_cause().to_string();
            format!("needs something that plugins do not get: {why}")
        })?;
        Ok(CompiledModule { instance })
    }
}

/// The bytes of a module's file.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(file).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(MODULE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MODULE_BYTES_MAX {
        return Err(format!("has more than {MODULE_BYTES_MAX} bytes"));
    }
    Ok(bytes)
}

/// Functions of the interface and of WASI that are not here answer that they are not.
fn answer_if_unknown(linker: &mut Linker<Host>, import: &ImportType<'_>) {
    let answer = match import.module() {
        ABI_MODULE if import.name().starts_with("proxy_") => AbiStatus::Unimplemented as i32,
        module if WASI_MODULES.contains(&module) => NOT_SUPPORTED,
        _ => return,
    };
    let ExternType::Func(function) = import.ty() else { return };
    if returns_a_number(&function) {
        // Fails for functions that are here: they stay.
        let _ = linker.func_new(import.module(), import.name(), function, move |_, _, results| {
            results.iter_mut().for_each(|result| *result = Val::I32(answer));
            Ok(())
        });
    }
}

fn returns_a_number(function: &FuncType) -> bool {
    let mut results = function.results();
    results.next().is_some_and(|result| result.is_i32()) && results.next().is_none()
}
