//! `tollgate.waf` of a definition: requests and responses in front of the rules of a web application firewall.

use crate::json_path::JsonPath;
use crate::problem::Findings;
use schemars::JsonSchema;
use serde::Deserialize;

/// `tollgate.waf`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WafRules {
    /// What happens to a request that the rules deny; default `enforcing`.
    pub mode: WafMode,
    /// How suspicious the rules are: 1 (default) has few false positives, 4 finds most.
    pub paranoia_level: u8,
    /// Sum of scores from which a request is denied; default 5, which is one critical rule.
    pub inbound_threshold: u32,
    /// What the rules do not look at.
    pub exclusions: Vec<WafExclusion>,
    /// Whether the rules of the gateway's directory are used; default true. Without them, only the API's own are.
    pub core_rules: bool,
    /// Rules of one's own, as text; at most 64 KiB. They come before the other rules.
    pub rules: String,
    /// Files of rules of one's own, below the directory `own_rules` of the configuration. They come before the other rules.
    pub rule_files: Vec<String>,
    /// Bytes of a body that are inspected, after decompression; default 131072. 0 means that bodies are not read, and only heads are inspected.
    pub body_max: usize,
    /// What happens to a body with more bytes; default `refuse`.
    pub larger_bodies: WafLargerBodies,
    /// Whether responses are inspected, too. Their bodies are held until the inspection has ended.
    pub responses: bool,
    /// Sum of scores from which a response is denied; default 4, which is one rule about errors that tell too much.
    pub outbound_threshold: u32,
    /// Most bytes of a response's body, after decompression; default 131072. A larger one passes uninspected, and its record says so. 0 means that
    /// only heads are inspected.
    pub response_body_max: usize,
    /// Media types of the bodies that are inspected, with `*` for any text; bodies without a type are, too. Default: texts, JSON and XML.
    pub response_types: Vec<String>,
}

/// What happens to a request that the rules deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WafMode {
    /// It is rejected.
    #[default]
    Enforcing,
    /// It passes, is counted and recorded.
    Detection,
    /// There is no inspection.
    Off,
}

/// What happens to a body of which only the start would be inspected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WafLargerBodies {
    /// The request is rejected.
    #[default]
    Refuse,
    /// The start is inspected, and the rest passes.
    InspectStart,
}

/// What some rules do not look at. Without `rules` and `tags` it is for all rules, without `parameters` for all values, without `paths` for all
/// requests; it must not be without all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WafExclusion {
    /// Numbers of rules, or ranges such as `942100-942199`.
    pub rules: Vec<String>,
    /// Tags of rules, such as `attack-sqli`.
    pub tags: Vec<String>,
    /// Values that the rules do not look at, such as `ARGS:comment` or `REQUEST_COOKIES:/^session_/`.
    pub parameters: Vec<String>,
    /// The start of the paths of requests, without the listen path, such as `/admin/`.
    pub paths: Vec<String>,
}

/// `response_types` without a value.
const RESPONSE_TYPES: [&str; 5] = ["text/*", "application/json", "application/*+json", "application/xml", "application/*+xml"];

impl Default for WafRules {
    fn default() -> Self {
        WafRules {
            mode: WafMode::default(),
            paranoia_level: 1,
            inbound_threshold: 5,
            exclusions: Vec::new(),
            core_rules: true,
            rules: String::new(),
            rule_files: Vec::new(),
            body_max: 131_072,
            larger_bodies: WafLargerBodies::default(),
            responses: false,
            outbound_threshold: 4,
            response_body_max: 131_072,
            response_types: RESPONSE_TYPES.iter().map(ToString::to_string).collect(),
        }
    }
}

impl WafRules {
    /// The longest text of `rules`: each API may have one.
    pub const RULES_BYTES_MAX: usize = 64 * 1024;

    pub(super) fn check(&self, findings: &mut Findings) {
        let at = JsonPath::of("tollgate.waf");
        if !(1..=4).contains(&self.paranoia_level) {
            findings.error(&at.key("paranoia_level"), "must be from 1 to 4");
        }
        if self.inbound_threshold == 0 {
            findings.error(&at.key("inbound_threshold"), "must be at least 1");
        }
        if self.outbound_threshold == 0 {
            findings.error(&at.key("outbound_threshold"), "must be at least 1");
        }
        if self.rules.len() > Self::RULES_BYTES_MAX {
            findings.error(&at.key("rules"), format!("must have at most {} bytes: use rule_files", Self::RULES_BYTES_MAX));
        }
        for (index, media_type) in self.response_types.iter().enumerate() {
            if !media_type.contains('/') || media_type.matches('*').count() > 1 || media_type.contains([' ', ';', ',']) {
                let place = at.key("response_types").index(index);
                findings.error(&place, format!("{media_type:?} must be a media type such as text/html or text/*"));
            }
        }
        for (index, file) in self.rule_files.iter().enumerate() {
            let is_below =
                file.split('/').all(|step| !step.is_empty() && step != "." && step != "..") && !file.contains(['\\', '\0']);
            if !is_below {
                findings
                    .error(&at.key("rule_files").index(index), "must be the path of a file below own_rules, without `.` and `..`");
            }
        }
        for (index, exclusion) in self.exclusions.iter().enumerate() {
            let place = at.key("exclusions").index(index);
            if *exclusion == WafExclusion::default() {
                findings.error(&place, "must have rules, tags, parameters or paths");
            }
            for (number, path) in exclusion.paths.iter().enumerate().filter(|(_, path)| !path.starts_with('/')) {
                findings.error(&place.key("paths").index(number), format!("{path:?} must begin with a slash"));
            }
        }
    }
}
