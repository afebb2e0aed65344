//! Which gateway a configuration is for.

use std::path::Path;

/// A gateway whose configuration can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
    /// `nginx.conf`.
    Nginx,
    /// The declarative file of Kong and decK.
    Kong,
    /// `apisix.yaml`, or an export of the Admin API.
    Apisix,
    /// `krakend.json`.
    Krakend,
    /// `haproxy.cfg`.
    Haproxy,
    /// A Caddyfile.
    Caddy,
    /// A dynamic file of Traefik, YAML or TOML.
    Traefik,
}

impl ForeignFormat {
    /// All of them.
    pub const ALL: [ForeignFormat; 7] = [
        ForeignFormat::Nginx,
        ForeignFormat::Kong,
        ForeignFormat::Apisix,
        ForeignFormat::Krakend,
        ForeignFormat::Haproxy,
        ForeignFormat::Caddy,
        ForeignFormat::Traefik,
    ];

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            ForeignFormat::Nginx => "nginx",
            ForeignFormat::Kong => "kong",
            ForeignFormat::Apisix => "apisix",
            ForeignFormat::Krakend => "krakend",
            ForeignFormat::Haproxy => "haproxy",
            ForeignFormat::Caddy => "caddy",
            ForeignFormat::Traefik => "traefik",
        }
    }

    /// The format of a text; the name of the file helps where texts look alike.
    pub(crate) fn of(file: &Path, text: &str) -> Option<ForeignFormat> {
        let name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let is_json = text.trim_start().starts_with(['{', '[']);
        let has_key = |key: &str| {
            let is_quoted = is_json && text.contains(&format!("\"{key}\""));
            is_quoted
                || lines().any(|line| {
                    let line = line.trim_start_matches(['{', '-', ' ', '[']).trim_start_matches('"');
                    line.strip_prefix(key)
                        .is_some_and(|rest| rest.trim_start_matches(['"', ' ', ']', '.']).starts_with([':', '=']) || rest == "]")
                })
        };
        let starts =
            |words: &[&str]| lines().any(|line| words.contains(&line.split([' ', '\t', ';', '{']).next().unwrap_or_default()));
        let is_toml = name.ends_with(".toml");
        if has_key("_format_version") || (name.starts_with("kong.") && !name.ends_with(".conf")) {
            return Some(ForeignFormat::Kong);
        }
        if text.contains("krakend.io/schema") || (has_key("endpoints") && (has_key("backend") || text.contains("\"endpoint\""))) {
            return Some(ForeignFormat::Krakend);
        }
        if is_toml || (has_key("http") && (has_key("routers") || has_key("middlewares"))) || text.contains("[http.") {
            return Some(ForeignFormat::Traefik);
        }
        if has_key("uri") || has_key("routes") || has_key("upstreams") || has_key("consumers") || has_key("global_rules") {
            let is_apisix = ["uri", "uris", "upstream_id", "service_id", "global_rules", "plugin_config_id", "createdIndex"]
                .iter()
                .any(|key| has_key(key));
            let is_kong =
                ["paths", "strip_path", "services", "targets", "custom_id", "hosts"].iter().any(|key| has_key(key)) && !is_apisix;
            return Some(if is_kong { ForeignFormat::Kong } else { ForeignFormat::Apisix });
        }
        if name == "caddyfile" || name.ends_with(".caddyfile") {
            return Some(ForeignFormat::Caddy);
        }
        let ends_lines = lines().any(|line| line.contains(';'));
        if !ends_lines
            && starts(&["frontend", "backend", "listen", "defaults"])
            && starts(&["bind", "server", "mode", "default_backend"])
        {
            return Some(ForeignFormat::Haproxy);
        }
        if ends_lines
            && starts(&["server", "location", "upstream", "http", "events", "proxy_pass", "listen", "user", "worker_processes"])
        {
            return Some(ForeignFormat::Nginx);
        }
        let opens_block = lines().any(|line| line.ends_with('{'));
        (opens_block && starts(&["reverse_proxy", "respond", "handle", "handle_path", "file_server", "redir"]))
            .then_some(ForeignFormat::Caddy)
    }
}
