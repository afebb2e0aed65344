//! In place of the engine, in a gateway that is built without it. An API that asks for it is not served.

use super::{InspectionJob, ResponseJob, WafFinding};
use tollgate_model::api::WafRules;
use tollgate_model::config::WafSettings;

/// No rules.
#[derive(Default)]
pub struct RuleLibrary;

pub enum Firewall {}

pub enum RequestMemory {}

impl Firewall {
    pub fn compile(_: &RuleLibrary, _: &WafSettings, _: &WafRules) -> Result<Self, (String, String)> {
        Err(("$.tollgate.waf".to_owned(), "this gateway was built without `waf`: the API is not served".to_owned()))
    }

    pub fn notes(&self) -> &[String] {
        match *self {}
    }

    pub fn inspect_briefly(&self, _: &InspectionJob) -> Option<WafFinding> {
        match *self {}
    }

    pub fn inspect(&self, _: &InspectionJob) -> WafFinding {
        match *self {}
    }

    pub fn inspect_response_briefly(&self, _: &RequestMemory, _: &ResponseJob) -> Option<WafFinding> {
        match *self {}
    }

    pub fn inspect_response(&self, _: &RequestMemory, _: &ResponseJob) -> WafFinding {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::{Firewall, RuleLibrary};

    #[test]
    fn a_gateway_without_the_firewall_names_the_feature() {
        let refused = Firewall::compile(&RuleLibrary, &Default::default(), &Default::default());
        let (_, why) = refused.err().unwrap_or_default();
        assert!(why.contains("built without `waf`"), "{why}");
    }
}
