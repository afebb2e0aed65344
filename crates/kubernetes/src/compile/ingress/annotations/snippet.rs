//! `configuration-snippet`: the directives of nginx that change headers, cookies and addresses, or answer. With one that is not known, the paths are
//! closed: it may protect something.

use super::values::request_text;
use crate::compile::ingress::settings::{IngressHeaders, IngressSettings};
use serde_json::json;

/// Directives that protect nobody, and have no effect.
const IDLE: [&str; 18] = [
    "access_log",
    "chunked_transfer_encoding",
    "gzip",
    "gzip_comp_level",
    "gzip_disable",
    "gzip_min_length",
    "gzip_proxied",
    "gzip_types",
    "gzip_vary",
    "log_not_found",
    "proxy_buffer_size",
    "proxy_buffering",
    "proxy_buffers",
    "proxy_busy_buffers_size",
    "proxy_http_version",
    "proxy_request_buffering",
    "server_tokens",
    "tcp_nodelay",
];

/// Headers that backends have anyway, with the variables that people write for them.
const USUAL: [(&str, &str); 8] = [
    ("host", "$host"),
    ("host", "$http_host"),
    ("x-real-ip", "$remote_addr"),
    ("x-forwarded-for", "$proxy_add_x_forwarded_for"),
    ("x-forwarded-for", "$remote_addr"),
    ("upgrade", "$http_upgrade"),
    ("connection", "upgrade"),
    ("connection", "$connection_upgrade"),
];

/// Takes the directives of a snippet over.
///
/// # Errors
/// The first directive that can't be carried out.
pub(super) fn read(text: &str, settings: &mut IngressSettings) -> Result<(), String> {
    // All of it, or nothing.
    carry_out_all(text, &mut IngressSettings::default())?;
    carry_out_all(text, settings)
}

fn carry_out_all(text: &str, settings: &mut IngressSettings) -> Result<(), String> {
    let mut access = AccessRules::default();
    for directive in directives(text)? {
        let words: Vec<&str> = directive.iter().map(String::as_str).collect();
        let Some((name, arguments)) = words.split_first() else { continue };
        carry_out(name, arguments, settings, &mut access)?;
    }
    access.apply(settings)
}

fn carry_out(name: &str, arguments: &[&str], settings: &mut IngressSettings, access: &mut AccessRules) -> Result<(), String> {
    match (name, arguments) {
        ("more_set_headers", lines) => set_lines(lines, &mut settings.response_headers),
        ("more_set_input_headers", lines) => set_lines(lines, &mut settings.request_headers),
        ("more_clear_headers", names) | ("proxy_hide_header", names) => clear(names, &mut settings.response_headers),
        ("more_clear_input_headers", names) => clear(names, &mut settings.request_headers),
        ("add_header", [name, value] | [name, value, "always"]) => {
            let header = json!({"name": header_name(name)?, "value": constant(value)?});
            settings.response_headers.add.push(header);
            Ok(())
        }
        ("proxy_set_header", [name, value]) if is_usual(name, value) => Ok(()),
        ("proxy_set_header", [name, value]) if name.eq_ignore_ascii_case("host") => {
            settings.vhost = Some(constant(value)?.to_owned());
            Ok(())
        }
        ("proxy_set_header", [name, value]) => set_header(name, value, &mut settings.request_headers),
        ("proxy_cookie_path", [from, to]) => settings.cookie_path(from, to),
        ("proxy_cookie_domain", [from, to]) => settings.cookie_domain(from, to),
        ("proxy_redirect", [from, to]) => settings.location(from, to),
        ("proxy_redirect", ["off" | "default"]) | ("proxy_cookie_path" | "proxy_cookie_domain", ["off"]) => Ok(()),
        ("return", [status, location]) if is_redirect(status) => {
            settings.temporal_redirect = Some(request_text(location)?);
            settings.temporal_status = status.parse().ok();
            Ok(())
        }
        ("return", [status] | [status, _]) => {
            let status = status.parse().ok().filter(|status| (400..600).contains(status));
            settings.answer_status = Some(status.ok_or("`return` with this status is not supported")?);
            Ok(())
        }
        ("allow", [whom]) => access.add(whom, true),
        ("deny", [whom]) => access.add(whom, false),
        (name, _) if IDLE.contains(&name) => Ok(()),
        (name, _) => Err(format!("the directive `{name}` is not supported, or not in this form")),
    }
}

fn is_redirect(status: &str) -> bool {
    matches!(status, "301" | "302" | "303" | "307" | "308")
}

fn is_usual(name: &str, value: &str) -> bool {
    USUAL.iter().any(|(known, usual)| name.eq_ignore_ascii_case(known) && value.eq_ignore_ascii_case(usual))
}

/// Lines such as `Name: value`. Without a value, the header is removed.
fn set_lines(lines: &[&str], edits: &mut IngressHeaders) -> Result<(), String> {
    if lines.is_empty() || lines.iter().any(|line| line.starts_with('-')) {
        return Err("headers for some statuses or types alone are not supported".to_owned());
    }
    lines.iter().try_for_each(|line| {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        set_header(name.trim(), value.trim(), edits)
    })
}

fn set_header(name: &str, value: &str, edits: &mut IngressHeaders) -> Result<(), String> {
    let (name, value) = (header_name(name)?, constant(value)?);
    match value {
        "" => edits.remove.push(name.to_owned()),
        value => edits.set.push(json!({"name": name, "value": value})),
    }
    Ok(())
}

fn clear(names: &[&str], edits: &mut IngressHeaders) -> Result<(), String> {
    for name in names {
        edits.remove.push(header_name(name.trim_end_matches(':'))?.to_owned());
    }
    Ok(())
}

fn header_name(name: &str) -> Result<&str, String> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_name { Ok(name) } else { Err(format!("{name:?} is no name of a header")) }
}

fn constant(value: &str) -> Result<&str, String> {
    match value {
        value if value.contains('$') => Err(format!("variables are not supported in headers: {value:?}")),
        value if value.chars().any(char::is_control) => Err("a value has line breaks".to_owned()),
        value => Ok(value),
    }
}

/// `allow` and `deny`, of which the first that fits counts.
#[derive(Default)]
struct AccessRules {
    allowed: Vec<String>,
    denied: Vec<String>,
    /// After it nothing else counts.
    denies_all: bool,
}

impl AccessRules {
    fn add(&mut self, whom: &str, allows: bool) -> Result<(), String> {
        match (whom, allows) {
            _ if self.denies_all => {}
            ("all", false) => self.denies_all = true,
            ("all", true) => return Err("`allow all` is not supported".to_owned()),
            (whom, true) if self.denied.is_empty() => self.allowed.push(whom.to_owned()),
            (_, true) => return Err("`allow` behind `deny` is not supported".to_owned()),
            (whom, false) => self.denied.push(whom.to_owned()),
        }
        Ok(())
    }

    fn apply(self, settings: &mut IngressSettings) -> Result<(), String> {
        match (self.denies_all, self.allowed.is_empty(), self.denied.is_empty()) {
            (true, true, _) => {
                settings.answer_status = Some(403);
                Ok(())
            }
            (true, false, true) => settings.allow_in_snippet(&self.allowed.join(",")),
            (false, true, false) => settings.deny(&self.denied.join(",")),
            (false, true, true) => Ok(()),
            _ => Err("`allow` and `deny` are not supported in this order".to_owned()),
        }
    }
}

/// The directives of a text, each with its words.
///
/// # Errors
/// It has blocks, or ends within a directive.
fn directives(text: &str) -> Result<Vec<Vec<String>>, String> {
    let (mut found, mut words) = (Vec::new(), Vec::new());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            letter if letter.is_whitespace() => {}
            '#' => while letters.next_if(|next| *next != '\n').is_some() {},
            ';' => found.push(std::mem::take(&mut words)),
            '{' | '}' => {
                let name = words.first().map_or("", String::as_str);
                return Err(format!("blocks are not supported: `{name} {{`"));
            }
            quote @ ('"' | '\'') => {
                let mut word = String::new();
                loop {
                    match letters.next() {
                        None => return Err("a quotation mark is not closed".to_owned()),
                        Some('\\') => word.extend(letters.next()),
                        Some(letter) if letter == quote => break,
                        Some(letter) => word.push(letter),
                    }
                }
                words.push(word);
            }
            letter => {
                let mut word = String::from(letter);
                // `${name}` is no block.
                while let Some(next) = letters.next_if(|next| !next.is_whitespace() && !";".contains(*next)) {
                    if next == '{' && !word.ends_with('$') {
                        return Err(format!("blocks are not supported: `{word} {{`"));
                    }
                    word.push(next);
                }
                words.push(word);
            }
        }
    }
    match words.first() {
        None => Ok(found),
        Some(name) => Err(format!("the directive `{name}` has no end")),
    }
}
