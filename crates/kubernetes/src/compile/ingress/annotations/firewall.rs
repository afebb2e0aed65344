//! ModSecurity: the annotations become the firewall of the gateway (`tollgate.waf`). `SecRuleEngine` of a snippet is its mode, and rules and
//! exceptions of a snippet come before those of the gateway.

use super::values::boolean;
use super::{AnnotationRow, Fate, protection, row};
use crate::compile::ingress::report::ReportOutcome;
use crate::compile::ingress::settings::IngressSettings;
use Fate::{Approximated, Missing};
use regex::Regex;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

pub(super) const SNIPPET: &str = "modsecurity-snippet";
const ENABLED: &str = "enable-modsecurity";
const CORE_RULES: &str = "enable-owasp-core-rules";

pub(super) const ROWS: &[AnnotationRow] = &[
    protection(
        ENABLED,
        Approximated,
        "`tollgate.waf`, in mode `detection` unless the snippet says `SecRuleEngine On`",
        |value, settings| {
            settings.firewall.is_on = Some(boolean(value)?);
            Ok(())
        },
    ),
    protection(
        CORE_RULES,
        Approximated,
        "the rules in the gateway's directory, `tollgate.waf.rules` of its configuration",
        |value, settings| {
            settings.firewall.has_core_rules = boolean(value)?;
            Ok(())
        },
    ),
    protection(
        SNIPPET,
        Approximated,
        "mode, limits of bodies, levels and thresholds, rules and exceptions of one's own; what concerns logs has no effect",
        |value, settings| {
            settings.firewall.snippet = Some(value.to_owned());
            Ok(())
        },
    ),
    row("modsecurity-transaction-id", Missing, "requests have an id of the gateway's", |_, _| Ok(())),
];

/// A level, and a threshold, as rules set them.
#[allow(clippy::unwrap_used, reason = "a constant")]
static LEVEL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?i)setvar:'?tx\.(?:blocking_)?paranoia_level=([1-4])\b").unwrap());
#[allow(clippy::unwrap_used, reason = "a constant")]
static THRESHOLD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)setvar:'?tx\.(in|out)bound_anomaly_score_threshold=([0-9]{1,6})\b").unwrap());

/// Directives for rules, which the gateway's firewall knows too.
const RULES: [&str; 8] = [
    "secrule",
    "secaction",
    "secmarker",
    "secdefaultaction",
    "secruleremovebyid",
    "secruleremovebytag",
    "secruleupdatetargetbyid",
    "secruleupdatetargetbytag",
];

/// Starts of directives about logs and the engine itself.
const IDLE: [&str; 10] =
    ["secargument", "secaudit", "seccomponent", "seccookie", "secdata", "secdebug", "secpcre", "secstatus", "sectmp", "secunicode"];

/// Makes the member of definitions of all annotations together. Closes the paths if a snippet can't be carried out.
pub(super) fn resolve(settings: &mut IngressSettings) {
    let written = std::mem::take(&mut settings.firewall);
    let is_on = written.is_on.unwrap_or(written.has_core_rules);
    if !is_on {
        return;
    }
    let mut waf = Map::from_iter([("mode".to_owned(), json!("detection"))]);
    let (mut rules, mut has_core_rules) = (String::new(), written.has_core_rules);
    for line in logical_lines(written.snippet.as_deref().unwrap_or_default()) {
        if let Err(why) = carry_over(&line, &mut waf, &mut rules, &mut has_core_rules) {
            return settings.close(SNIPPET, &why);
        }
    }
    if waf.remove("off").is_some() {
        return;
    }
    if rules.is_empty() && !has_core_rules {
        let why = "it has no rules: enable-owasp-core-rules is missing, and the snippet has none";
        return settings.note(ENABLED, ReportOutcome::NotCarried, why);
    }
    waf.insert("core_rules".to_owned(), json!(has_core_rules));
    waf.insert("rules".to_owned(), json!(rules));
    settings.firewall.document = Some(Value::Object(waf));
}

/// # Errors
/// The directive is not known: it may protect something.
fn carry_over(line: &str, waf: &mut Map<String, Value>, rules: &mut String, has_core_rules: &mut bool) -> Result<(), String> {
    let (name, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let value = value.trim().trim_matches('"');
    let lower = name.to_ascii_lowercase();
    let mut set = |member: &str, value: Value| drop(waf.insert(member.to_owned(), value));
    let is_on = value.eq_ignore_ascii_case("on");
    match lower.as_str() {
        "secruleengine" => match value.to_ascii_lowercase().as_str() {
            "on" => set("mode", json!("enforcing")),
            "detectiononly" => set("mode", json!("detection")),
            "off" => set("off", json!(true)),
            _ => return Err(format!("SecRuleEngine has no value {value:?}")),
        },
        "secrequestbodyaccess" if !is_on => set("body_max", json!(0)),
        "secrequestbodyaccess" | "secrequestbodynofileslimit" | "secrequestbodyinmemorylimit" => {}
        "secrequestbodylimit" => set("body_max", json!(bytes(name, value)?)),
        "secrequestbodylimitaction" => {
            let is_partial = value.eq_ignore_ascii_case("processpartial");
            set("larger_bodies", json!(if is_partial { "inspect_start" } else { "refuse" }));
        }
        "secresponsebodyaccess" => set("responses", json!(is_on)),
        "secresponsebodylimit" => set("response_body_max", json!(bytes(name, value)?)),
        // Larger bodies of responses pass.
        "secresponsebodylimitaction" | "secresponsebodymimetype" => {}
        "include" if value.contains("crs") => *has_core_rules = true,
        // ingress-nginx has its recommended settings anyway.
        "include" if value.ends_with("modsecurity.conf") => {}
        name if RULES.contains(&name) => {
            if let Some(level) = LEVEL.captures(line).and_then(|found| found.get(1)?.as_str().parse::<u8>().ok()) {
                set("paranoia_level", json!(level));
            }
            for found in THRESHOLD.captures_iter(line) {
                let member =
                    if found.get(1).is_some_and(|way| way.as_str().eq_ignore_ascii_case("in")) { "inbound" } else { "outbound" };
                let score = found.get(2).and_then(|score| score.as_str().parse::<u32>().ok());
                score.into_iter().for_each(|score| set(&format!("{member}_threshold"), json!(score)));
            }
            rules.push_str(line);
            rules.push('\n');
        }
        name if IDLE.iter().any(|idle| name.starts_with(idle)) => {}
        _ => return Err(format!("the directive {name} is not supported")),
    }
    Ok(())
}

fn bytes(name: &str, value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("{name} has no number: {value:?}"))
}

/// The lines of a text without comments; one that ends with a backslash goes on in the next.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut whole = String::new();
    for line in text.lines().map(str::trim) {
        if whole.is_empty() && line.starts_with('#') {
            continue;
        }
        let (line, goes_on) = line.strip_suffix('\\').map_or((line, false), |line| (line, true));
        whole.push_str(line);
        if !goes_on && !whole.trim().is_empty() {
            lines.push(whole.trim().to_owned());
        }
        if goes_on {
            whole.push(' ');
        } else {
            whole.clear();
        }
    }
    if !whole.trim().is_empty() {
        lines.push(whole.trim().to_owned());
    }
    lines
}
