//! Plugins in WebAssembly (`driver: wasm`): modules for the proxy-wasm interface, as its SDKs for Rust, Go, AssemblyScript and C++ make them.
//! A module has no authority but what the interface gives it: no files, no sockets, no environment. Each call has limits of time, memory and
//! log. Short calls run on the data thread that makes them, all others on threads of their own.
#![forbid(unsafe_code)]

mod abi;
mod abi_status;
mod answer;
mod compiled;
mod deadline;
mod driver;
mod guest_memory;
mod header_changes;
mod hook_plugin;
mod host;
mod instance;
mod limits;
mod loading;
mod long_calls;
mod plugin_log;
mod property;
mod ticker;
mod wasi;
mod wasm_call;

pub use driver::WasmDriver;

#[cfg(test)]
mod tests;
