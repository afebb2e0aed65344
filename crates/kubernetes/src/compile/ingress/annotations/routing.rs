//! Annotations that say where requests go, and how.

use super::values::{boolean, bytes, list, milliseconds, number, request_text};
use super::{AnnotationRow, Fate, protection, row};
use Fate::{Approximated, Carried, Idle};
use serde_json::json;

/// Methods of requests that may be sent twice.
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

pub(super) const ROWS: &[AnnotationRow] = &[
    row(
        "default-backend",
        Carried,
        "while the service of a path has no endpoint that is ready, the first port of this one answers. It gets `X-Code: 503`, `X-Namespace`, `X-Ingress-Name`, `X-Service-Name` and `X-Service-Port`",
        |value, settings| {
            if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
                return Err(format!("{value:?} is no name of a service in its namespace"));
            }
            settings.default_backend = Some(value.to_owned());
            Ok(())
        },
    ),
    row(
        "rewrite-target",
        Carried,
        "the path for the backend, with `$1` for groups of the path. Paths of the host are expressions",
        |value, settings| {
            if !value.starts_with('/') {
                return Err(format!("{value:?} is no path"));
            }
            if value.replace("$$", "").split('$').skip(1).any(|after| !after.starts_with(|next: char| next.is_ascii_digit())) {
                return Err("a new path can have `$1` to `$9`, and no variables".to_owned());
            }
            if value.contains('?') {
                return Err("a new path can have no query".to_owned());
            }
            settings.rewrite_target = Some(value.to_owned());
            Ok(())
        },
    ),
    row("use-regex", Carried, "paths of the host are expressions (RE2), whatever their letter case", |value, settings| {
        settings.uses_regex = boolean(value)?;
        Ok(())
    }),
    row("app-root", Carried, "`/` is redirected there (302)", |value, settings| {
        if !value.starts_with('/') {
            return Err(format!("{value:?} is no path"));
        }
        settings.app_root = Some(value.to_owned());
        Ok(())
    }),
    row("ssl-redirect", Carried, "hosts with TLS are redirected to https (308), unless it is `false`", |value, settings| {
        settings.ssl_redirect = Some(boolean(value)?);
        Ok(())
    }),
    row("force-ssl-redirect", Carried, "all hosts are redirected to https (308)", |value, settings| {
        settings.forces_ssl = boolean(value)?;
        Ok(())
    }),
    row("permanent-redirect", Carried, "all requests are redirected there (301)", |value, settings| {
        settings.permanent_redirect = Some(request_text(value)?);
        Ok(())
    }),
    row("permanent-redirect-code", Carried, "the status of `permanent-redirect`: 301, 302, 303, 307 or 308", |value, settings| {
        settings.permanent_status = Some(redirect_status(value)?);
        Ok(())
    }),
    row("temporal-redirect", Carried, "all requests are redirected there (302)", |value, settings| {
        settings.temporal_redirect = Some(request_text(value)?);
        Ok(())
    }),
    row("temporal-redirect-code", Carried, "the status of `temporal-redirect`", |value, settings| {
        settings.temporal_status = Some(redirect_status(value)?);
        Ok(())
    }),
    row(
        "from-to-www-redirect",
        Carried,
        "the host with `www.`, or without it, is redirected to the other (308)",
        |value, settings| {
            settings.redirects_www = boolean(value)?;
            Ok(())
        },
    ),
    row("server-alias", Carried, "more hosts; expressions are not supported", |value, settings| {
        let aliases = list(value);
        if let Some(alias) = aliases.iter().find(|alias| alias.contains(['~', '(', '^', '\\'])) {
            return Err(format!("{alias:?} is no host"));
        }
        settings.aliases = aliases.into_iter().map(|alias| alias.to_ascii_lowercase()).collect();
        Ok(())
    }),
    row("backend-protocol", Carried, "`HTTP`, `HTTPS`, `GRPC`, `GRPCS`, `AUTO_HTTP`", |value, settings| {
        match value.to_ascii_uppercase().as_str() {
            "HTTP" | "AUTO_HTTP" => {}
            "HTTPS" | "GRPCS" => settings.backend.is_secure = true,
            "GRPC" => settings.backend.is_grpc = true,
            other => {
                let why = format!("the protocol {other} is not supported");
                settings.closed.get_or_insert_with(|| format!("backend-protocol: {why}"));
                return Err(why);
            }
        }
        Ok(())
    }),
    row("proxy-ssl-name", Carried, "the name that the backend is asked for with TLS", |value, settings| {
        settings.backend.name = Some(value.to_owned());
        Ok(())
    }),
    row("proxy-ssl-server-name", Approximated, "a name is always sent: `proxy-ssl-name` or that of the service", |value, _| {
        boolean(value).map(|_| ())
    }),
    row(
        "proxy-body-size",
        Approximated,
        "the largest body: a larger one is refused with 400, one without a length with 411. Without it there is no limit",
        |value, settings| {
            settings.body_bytes_max = Some(bytes(value)?);
            Ok(())
        },
    ),
    row("proxy-connect-timeout", Approximated, "the time for the connection is that of the gateway", |value, _| {
        milliseconds(value).map(|_| ())
    }),
    row("proxy-send-timeout", Approximated, "the time between two parts of a request is that of the gateway", |value, _| {
        milliseconds(value).map(|_| ())
    }),
    row("proxy-read-timeout", Approximated, "the time until the response begins, at most an hour", |value, settings| {
        settings.rule.insert("timeouts".to_owned(), json!({"backend_request_ms": milliseconds(value)?}));
        Ok(())
    }),
    row(
        "proxy-next-upstream",
        Carried,
        "what is sent again: `error`, `timeout`, `http_502` and so on, `non_idempotent`, `off`",
        |value, settings| {
            let words: Vec<&str> = value.split_whitespace().collect();
            let status = |word: &&str| word.strip_prefix("http_")?.parse::<u16>().ok();
            let statuses: Vec<u16> = words.iter().filter_map(status).filter(|status| (400..600).contains(status)).collect();
            let is_off = words.contains(&"off");
            settings.retries.extend([
                ("statuses".to_owned(), json!(if is_off { Vec::new() } else { statuses })),
                ("connection_errors".to_owned(), json!(!is_off && words.iter().any(|word| matches!(*word, "error" | "timeout")))),
                ("methods".to_owned(), json!(if words.contains(&"non_idempotent") { &[][..] } else { &IDEMPOTENT })),
            ]);
            Ok(())
        },
    ),
    row("proxy-next-upstream-tries", Carried, "how often a request is sent, at most 11 times", |value, settings| {
        let tries = number(value)?;
        settings.retries.insert("attempts".to_owned(), json!(if tries == 0 { 10 } else { (tries - 1).min(10) }));
        Ok(())
    }),
    row("proxy-next-upstream-timeout", Approximated, "the time until the response begins, with all sendings", |value, settings| {
        settings.answer_ms = Some(milliseconds(value)?);
        Ok(())
    }),
    row(
        "upstream-hash-by",
        Carried,
        "requests with the same address, path, header or cookie go to the same endpoint",
        |value, settings| {
            let name = value.trim_start_matches('$').trim_matches(['{', '}']);
            let hash = match name {
                "remote_addr" | "binary_remote_addr" => json!({"by": "address"}),
                "request_uri" | "uri" => json!({"by": "path"}),
                _ => match (name.strip_prefix("http_"), name.strip_prefix("cookie_")) {
                    (Some(header), _) => json!({"by": "header", "name": header.replace('_', "-")}),
                    (None, Some(cookie)) => json!({"by": "cookie", "name": cookie}),
                    (None, None) => return Err(format!("{value:?} is nothing that requests can be told apart by")),
                },
            };
            settings.rule.insert("hash".to_owned(), hash);
            Ok(())
        },
    ),
    protection(
        "ssl-passthrough",
        Approximated,
        "TLS ends at the backend of `/`, or of the first path; requests without TLS are redirected, and no other annotation acts",
        |value, settings| {
            settings.passes_tls = boolean(value)?;
            Ok(())
        },
    ),
    row("load-balance", Approximated, "endpoints get requests in turn", |_, _| Ok(())),
    row("service-upstream", Approximated, "requests go to the endpoints of the service all the same", |value, _| {
        boolean(value).map(|_| ())
    }),
    row("upstream-vhost", Carried, "the `Host` for the backend", |value, settings| {
        settings.vhost = Some(value.to_owned());
        Ok(())
    }),
    row("x-forwarded-prefix", Carried, "the header `X-Forwarded-Prefix` for the backend", |value, settings| {
        settings.request_headers.set.push(json!({"name": "X-Forwarded-Prefix", "value": value}));
        Ok(())
    }),
    row("connection-proxy-header", Approximated, "the gateway writes `Connection` itself", |_, _| Ok(())),
    row(
        "mirror-target",
        Carried,
        "a copy of each request goes to this URL: scheme and host, with `$request_uri` or nothing behind",
        |value, settings| {
            let url = value.strip_suffix("$request_uri").unwrap_or(value);
            let authority = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
            match authority {
                Some(authority) if !authority.is_empty() && !authority.contains(['/', '$', '?']) => {
                    settings.rule.insert("mirrors".to_owned(), json!([{"url": url}]));
                    Ok(())
                }
                _ => Err(format!("{value:?} is no URL without a path")),
            }
        },
    ),
    row("mirror-request-body", Approximated, "bodies up to 64 KiB are copied too", |value, _| boolean(value).map(|_| ())),
    row("mirror-host", Approximated, "copies have the host of their URL", |_, _| Ok(())),
    row(
        "canary",
        Carried,
        "the Ingress has a share of the requests of another one, with the same host and path",
        |value, settings| {
            settings.is_canary = boolean(value)?;
            Ok(())
        },
    ),
    row("canary-weight", Carried, "the share", |value, settings| {
        settings.canary.weight = number(value)?.min(1_000_000);
        Ok(())
    }),
    row("canary-weight-total", Carried, "what the share is a part of; 100 without it", |value, settings| {
        settings.canary.total = Some(number(value)?.clamp(1, 1_000_000));
        Ok(())
    }),
    row(
        "canary-by-header",
        Carried,
        "requests with this header: `always`, `never`, or the value or pattern below",
        |value, settings| {
            settings.canary.header = Some(value.to_owned());
            Ok(())
        },
    ),
    row("canary-by-header-value", Carried, "the value of the header", |value, settings| {
        settings.canary.value = Some(value.to_owned());
        Ok(())
    }),
    row("canary-by-header-pattern", Carried, "an expression (RE2) for the value of the header", |value, settings| {
        settings.canary.pattern = Some(value.to_owned());
        Ok(())
    }),
    row("canary-by-cookie", Carried, "requests with this cookie: `always` or `never`", |value, settings| {
        settings.canary.cookie = Some(value.to_owned());
        Ok(())
    }),
    row("proxy-buffering", Idle, "responses are passed on as they come, and never kept back", |_, _| Ok(())),
    row("proxy-request-buffering", Idle, "requests are passed on as they come", |_, _| Ok(())),
    row("proxy-buffers-number", Idle, "there are no such buffers", |_, _| Ok(())),
    row("proxy-buffer-size", Idle, "there are no such buffers; heads of responses have a limit of the gateway", |_, _| Ok(())),
    row("proxy-busy-buffers-size", Idle, "there are no such buffers", |_, _| Ok(())),
    row("proxy-max-temp-file-size", Idle, "nothing is written to files", |_, _| Ok(())),
    row("client-body-buffer-size", Idle, "there are no such buffers", |_, _| Ok(())),
    row("proxy-http-version", Idle, "backends are spoken to with HTTP/1.1, or HTTP/2 if they agree", |_, _| Ok(())),
    row("http2-push-preload", Idle, "browsers have given up server push", |_, _| Ok(())),
    row("ssl-prefer-server-ciphers", Idle, "all ciphers of the gateway are strong", |_, _| Ok(())),
    row("enable-access-log", Approximated, "what is recorded is a setting of the gateway", |value, _| boolean(value).map(|_| ())),
    row("enable-rewrite-log", Idle, "`tollgate debug` and the console say what becomes of a request", |_, _| Ok(())),
];

fn redirect_status(value: &str) -> Result<u16, String> {
    let status = value.parse().ok().filter(|status| matches!(status, 301 | 302 | 303 | 307 | 308));
    status.ok_or_else(|| format!("{value:?} is no status of a redirect with a location"))
}
