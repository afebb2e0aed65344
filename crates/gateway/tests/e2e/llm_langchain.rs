//! LangChain's clients before every kind of provider.

use std::process::Command;

use serde_json::json;

use crate::harness::Setup;
use crate::harness::keys::{create, session_for};
use crate::llm_google::{models, providers};
use crate::llm_judges::virtual_environment;

#[test]
fn langchain_in_python_reaches_every_provider_in_three_apis() {
    let Some(venv) = virtual_environment() else { return };
    let providers = providers();
    let gateway = Setup::new(json!({})).api(models(&providers, json!({})).with_keys()).start();
    let key = create(&gateway, &session_for(&["m"], json!({})));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/llm_langchain_clients.py");
    let url = format!("http://127.0.0.1:{}/m", gateway.port);
    let output = Command::new(venv.join("bin/python")).args([script, &url, &key]).output().expect("python");
    let (told, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.ends_with("all is well\n"), "{told}{complained}{}", gateway.log());
    gateway.expect_no_panic();
}
