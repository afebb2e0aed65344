//! Conversion of definitions' patterns to regular expressions.

use crate::base::re2;
use tollgate_model::config::GatewayConfig;

/// Rules for patterns, from the gateway's and the version's settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatternRules {
    pub prefix: bool,
    pub suffix: bool,
    pub ignore_case: bool,
}

impl PatternRules {
    /// The rules of a configuration.
    pub(crate) fn new(config: &GatewayConfig) -> Self {
        let options = &config.http_server_options;
        PatternRules {
            prefix: options.enable_path_prefix_matching,
            suffix: options.enable_path_suffix_matching,
            ignore_case: config.ignore_endpoint_case,
        }
    }

    /// The rules for access rights of keys, which are always case-sensitive.
    pub(crate) fn of_keys(config: &GatewayConfig) -> Self {
        PatternRules { ignore_case: false, ..PatternRules::new(config) }
    }

    /// Converts a pattern to the engine's syntax: `{name}` is a segment, `/*/` one segment, and `/*` everything after; the rest is a
    /// regular expression.
    pub(crate) fn expression(&self, pattern: &str, ignore_case: bool) -> String {
        let mut regex = String::new();
        if self.ignore_case || ignore_case {
            regex.push_str("(?i)");
        }
        if self.prefix && pattern.starts_with('/') {
            regex.push('^');
        }
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('{') {
            // A quantifier such as `{2,3}` is not a name.
            let Some((name, tail)) = after.split_once('}').filter(|(name, _)| is_name(name)) else {
                regex.push_str(before);
                regex.push('{');
                rest = after;
                continue;
            };
            let _ = name;
            regex.push_str(before);
            regex.push_str("([^/]+)");
            rest = tail;
        }
        regex.push_str(rest);
        let mut regex = regex.replace("/*/", "/[^/]+/").replace("/*", "/.*");
        if self.suffix && !regex.ends_with('$') {
            regex.push('$');
        }
        re2::ascii(&regex).into_owned()
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}
