//! In what two verdicts about one request differ.

use serde::Serialize;
use tollgate_admin::MASK;
use tollgate_admin::secret_name::{is_secret, masked_path};
use tollgate_data::handler::{RehearsedDecision, RehearsedVerdict};
use utoipa::ToSchema;

/// Why a request would be answered differently. The first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum DifferenceCause {
    /// Another API, or none.
    Route,
    /// Another version of the API.
    Version,
    /// Who may call: keys, tokens, certificates, addresses.
    Access,
    /// What a key may call.
    Rights,
    /// Rates and quotas.
    Limit,
    /// What a request must look like: its size, its body, its parameters.
    Validation,
    /// Another refusal, or another answer of the gateway itself.
    Answer,
    /// Another method, target or path for the upstream.
    Rewrite,
    /// Other header lines for the upstream.
    Headers,
    /// Other header lines for the client.
    ResponseHeaders,
    /// Another key of stored responses.
    CacheKey,
    /// A refusal that dry run prevents, or no longer.
    DryRun,
    /// Other rules of the web application firewall match.
    Waf,
    /// One of the two can't be known from the record.
    Undecided,
}

/// A difference; groups have equal ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub cause: DifferenceCause,
    /// The two sides, without what differs from request to request.
    pub from: String,
    pub to: String,
    /// The two sides of this request.
    pub old: String,
    pub new: String,
}

/// The difference between two verdicts; `None` if there is none.
pub(super) fn difference(old: &RehearsedVerdict, new: &RehearsedVerdict) -> Option<Difference> {
    if old == new {
        return None;
    }
    let same = |cause, from: String, to: String| Some(Difference { cause, old: from.clone(), new: to.clone(), from, to });
    if matches!(old.decision, RehearsedDecision::Undecided { .. }) || matches!(new.decision, RehearsedDecision::Undecided { .. }) {
        return same(DifferenceCause::Undecided, brief(old), brief(new)).filter(|difference| difference.from != difference.to);
    }
    if old.api != new.api {
        return same(DifferenceCause::Route, reached(old), reached(new));
    }
    if let Some(cause) = cause_of_refusals(old, new) {
        return same(cause, brief(old), brief(new));
    }
    if old.version != new.version {
        return same(DifferenceCause::Version, format!("version {}", old.version), format!("version {}", new.version));
    }
    if old.decision != new.decision {
        return same_kind(old, new);
    }
    let lines = |cause, old: &str, new: &str| {
        let (gone, come) = line_differences(old, new);
        let names =
            |lines: &[&str]| lines.iter().map(|line| line.split(": ").next().unwrap_or(line)).collect::<Vec<_>>().join(", ");
        let side = |text: String| if text.is_empty() { "nothing".to_owned() } else { text };
        let (from, to) = (side(names(&gone)), side(names(&come)));
        let shown = |lines: &[&str]| side(lines.iter().map(|line| without_secret(line)).collect::<Vec<_>>().join("; "));
        Some(Difference { cause, from, to, old: shown(&gone), new: shown(&come) })
    };
    if old.request_lines != new.request_lines {
        return lines(DifferenceCause::Headers, &old.request_lines, &new.request_lines);
    }
    if old.response_lines != new.response_lines {
        return lines(DifferenceCause::ResponseHeaders, &old.response_lines, &new.response_lines);
    }
    if old.cache_key != new.cache_key {
        let text = |key: &Option<String>| key.clone().unwrap_or_else(|| "no key".to_owned());
        let kind = |key: &Option<String>| if key.is_some() { "a key" } else { "no key" }.to_owned();
        let (from, to) =
            (kind(&old.cache_key), if new.cache_key.is_some() { "another key".to_owned() } else { kind(&new.cache_key) });
        return Some(Difference {
            cause: DifferenceCause::CacheKey,
            from,
            to,
            old: text(&old.cache_key),
            new: text(&new.cache_key),
        });
    }
    let list = |causes: &[String]| if causes.is_empty() { "nothing".to_owned() } else { causes.join(", ") };
    if old.would_refuse != new.would_refuse {
        return same(DifferenceCause::DryRun, list(&old.would_refuse), list(&new.would_refuse));
    }
    let rules =
        |prefix: &str, numbers: &str| if numbers.is_empty() { "no rules".to_owned() } else { format!("{prefix} {numbers}") };
    if old.waf_rules != new.waf_rules {
        let of = |verdict: &RehearsedVerdict| rules("rules", &verdict.waf_rules);
        return same(DifferenceCause::Waf, of(old), of(new));
    }
    if old.waf_response_rules != new.waf_response_rules {
        let of = |verdict: &RehearsedVerdict| rules("response: rules", &verdict.waf_response_rules);
        return same(DifferenceCause::Waf, of(old), of(new));
    }
    let unread = |verdict: &RehearsedVerdict| {
        format!(
            "what was not recorded decides in {}",
            list(&verdict.unread.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        )
    };
    same(DifferenceCause::Undecided, unread(old), unread(new))
}

/// If one of them is a refusal that the other is not: why.
fn cause_of_refusals(old: &RehearsedVerdict, new: &RehearsedVerdict) -> Option<DifferenceCause> {
    let refusal = |verdict: &RehearsedVerdict| match &verdict.decision {
        RehearsedDecision::Refuse { cause, .. } => Some(*cause),
        _ => None,
    };
    match (refusal(old), refusal(new)) {
        (None, None) => None,
        (Some(old), Some(new)) if old == new => None,
        // The refusal that is new tells more than the one that is gone.
        (_, Some(new)) => Some(cause_class(new)),
        (Some(old), None) => Some(cause_class(old)),
    }
}

/// What a refusal is about.
fn cause_class(cause: &str) -> DifferenceCause {
    match cause {
        "key_rate_limit" | "api_rate_limit" | "quota_exceeded" | "org_quota" | "org_rate_limit" => DifferenceCause::Limit,
        "address_rate_limit" | "concurrency_limit" => DifferenceCause::Limit,
        "api_disallowed" | "resource_disallowed" => DifferenceCause::Rights,
        "endpoint_forbidden" | "method_not_allowed" => DifferenceCause::Rights,
        "request_too_large" | "length_required" | "body_invalid" | "body_not_json" | "request_invalid" | "schema_missing" => {
            DifferenceCause::Validation
        }
        cause if cause.starts_with("waf_") => DifferenceCause::Waf,
        cause if cause.starts_with("version_") || cause == "api_expired" => DifferenceCause::Version,
        cause if ["coding_", "validation", "body_", "request_", "graphql_"].iter().any(|start| cause.starts_with(start)) => {
            DifferenceCause::Validation
        }
        cause
            if [
                "key_",
                "auth_",
                "jwt_",
                "basic_",
                "oauth_",
                "openid_",
                "external_",
                "signature_",
                "session_",
                "certificate_",
                "tls_",
                "ip_",
                "org_",
                "forward_",
            ]
            .iter()
            .any(|start| cause.starts_with(start)) =>
        {
            DifferenceCause::Access
        }
        _ => DifferenceCause::Answer,
    }
}

/// Two decisions about one API, none of them a refusal that the other is not.
fn same_kind(old: &RehearsedVerdict, new: &RehearsedVerdict) -> Option<Difference> {
    let made = |cause, from: &str, to: &str, old: String, new: String| {
        Some(Difference { cause, from: from.to_owned(), to: to.to_owned(), old, new })
    };
    let (
        RehearsedDecision::Forward { method, target, path },
        RehearsedDecision::Forward { method: new_method, target: new_target, path: new_path },
    ) = (&old.decision, &new.decision)
    else {
        let (from, mut to) = (brief(old), brief(new));
        if from == to {
            to = "another text".to_owned();
        }
        return made(DifferenceCause::Answer, &from, &to, long(old), long(new));
    };
    if target != new_target {
        return made(DifferenceCause::Rewrite, target, new_target, long(old), long(new));
    }
    if method != new_method {
        return made(DifferenceCause::Rewrite, method, new_method, long(old), long(new));
    }
    debug_assert!(path != new_path, "the decisions differ");
    made(DifferenceCause::Rewrite, "path", "another path", shown_path(path), shown_path(new_path))
}

/// The lines that only one of two texts has.
fn line_differences<'t>(old: &'t str, new: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let only = |these: &'t str, those: &str| these.lines().filter(|line| !those.lines().any(|other| other == *line)).collect();
    (only(old, new), only(new, old))
}

/// A header line; the value of one that is named like a credential is masked.
fn without_secret(line: &str) -> String {
    match line.split_once(": ") {
        Some((name, _)) if is_secret(name) => format!("{name}: {MASK}"),
        _ => line.to_owned(),
    }
}

/// A path with its query; the values of parameters that are named like credentials are masked.
pub(super) fn shown_path(path: &str) -> String {
    masked_path(path, |_| false)
}

fn reached(verdict: &RehearsedVerdict) -> String {
    if verdict.api.is_empty() { "no API".to_owned() } else { format!("API {}", verdict.api) }
}

/// A decision without what differs from request to request.
pub(super) fn brief(verdict: &RehearsedVerdict) -> String {
    match &verdict.decision {
        RehearsedDecision::Forward { .. } => "forwarded".to_owned(),
        RehearsedDecision::Refuse { status, cause, .. } => {
            let rules = match *cause {
                cause if cause.starts_with("waf_response_") => &*verdict.waf_response_rules,
                cause if cause.starts_with("waf_") => &*verdict.waf_rules,
                _ => "",
            };
            if rules.is_empty() { format!("{status} {cause}") } else { format!("{status} {cause} by rules {rules}") }
        }
        RehearsedDecision::Reply { status: 404, .. } if verdict.api.is_empty() => "no API".to_owned(),
        RehearsedDecision::Reply { status, by, .. } => format!("{status} from {by}"),
        RehearsedDecision::Undecided { by } => format!("undecided: {by}"),
    }
}

fn long(verdict: &RehearsedVerdict) -> String {
    match &verdict.decision {
        RehearsedDecision::Forward { method, target, path } => format!("{method} {target}{}", shown_path(path)),
        RehearsedDecision::Refuse { status, cause, message } => format!("{status} {cause}: {message}"),
        RehearsedDecision::Reply { .. } | RehearsedDecision::Undecided { .. } => brief(verdict),
    }
}
