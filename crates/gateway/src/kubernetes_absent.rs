//! In the place of the controller for Kubernetes, where the feature is not built in.

use crate::cli::KubernetesOptions;
use crate::manifest_findings::ManifestFindings;
use serde_json::Value;
use std::error::Error;
use std::sync::Arc;
use tollgate_access::keys::Keys;
use tollgate_control::definitions::DefinitionStore;

/// There is none.
pub(crate) enum Controller {}

/// There is none.
pub(crate) enum RunningController {}

/// # Errors
/// Always.
pub(crate) fn check_objects(_: Vec<Value>) -> Result<ManifestFindings, String> {
    Err("this gateway was built without `kubernetes`: manifests can't be checked".to_owned())
}

impl Controller {
    /// # Errors
    /// Always.
    pub(crate) fn of(_: &KubernetesOptions) -> Result<Self, Box<dyn Error>> {
        Err("this gateway was built without `kubernetes`: there is no controller for a cluster".into())
    }

    pub(crate) fn start(self, _: Arc<DefinitionStore>, _: Arc<Keys>) -> Result<RunningController, Box<dyn Error>> {
        match self {}
    }
}

impl RunningController {
    pub(crate) fn wait_until_served(&self) -> Result<(), Box<dyn Error>> {
        match *self {}
    }

    pub(crate) fn stop(self) {
        match self {}
    }
}

#[cfg(test)]
mod tests {
    use super::Controller;
    use crate::cli::{Cli, CliCommand};
    use clap::Parser;

    #[test]
    fn a_gateway_without_kubernetes_names_the_feature() {
        let cli = Cli::try_parse_from(["tollgate", "kubernetes", "--addresses", "10.0.0.0/24"]).map(Cli::command);
        let Ok(CliCommand::Kubernetes(options)) = cli else { panic!("no such command") };
        let refused = Controller::of(&options).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains("built without `kubernetes`"), "{refused}");
    }
}
