//! Annotations that keep somebody out, and cross-origin requests.

use super::values::{boolean, list, number, request_text};
use super::{AnnotationRow, Fate, protection, row};
use Fate::{Approximated, Carried, Missing};
use serde_json::json;

pub(super) const ROWS: &[AnnotationRow] = &[
    protection("whitelist-source-range", Carried, "`allowed_ips`", |value, settings| settings.allow(value)),
    protection("allowlist-source-range", Carried, "`allowed_ips`", |value, settings| settings.allow(value)),
    protection("denylist-source-range", Carried, "`blacklisted_ips`", |value, settings| settings.deny(value)),
    protection(
        "limit-rps",
        Approximated,
        "`tollgate.request_limits`: requests a second of each client address; 429 in place of 503",
        |value, settings| {
            settings.limits.push((number(value)?, 1));
            Ok(())
        },
    ),
    protection(
        "limit-rpm",
        Approximated,
        "`tollgate.request_limits`: requests a minute of each client address; 429 in place of 503",
        |value, settings| {
            settings.limits.push((number(value)?, 60));
            Ok(())
        },
    ),
    protection("limit-burst-multiplier", Carried, "how many times the rate may come at once; 5 without it", |value, settings| {
        settings.burst_multiplier = Some(number(value)?.max(1));
        Ok(())
    }),
    row("limit-whitelist", Carried, "addresses without these limits", |value, settings| settings.exempt(value)),
    row("limit-allowlist", Carried, "addresses without these limits", |value, settings| settings.exempt(value)),
    protection(
        "limit-connections",
        Approximated,
        "`tollgate.concurrency`: requests in progress of each client address, at each gateway; 429 in place of 503",
        |value, settings| {
            settings.concurrent_max = Some(u32::try_from(number(value)?).unwrap_or(u32::MAX)).filter(|most| *most > 0);
            Ok(())
        },
    ),
    protection("auth-type", Carried, "`basic`: `tollgate.user_passwords`", |value, settings| match value {
        "basic" => {
            settings.wants_basic = true;
            Ok(())
        }
        other => Err(format!("{other} is not supported: only basic is")),
    }),
    protection("auth-secret", Carried, "the Secret with users and hashes: bcrypt, apr1, SHA", |value, settings| {
        settings.basic_secret = Some(value.to_owned());
        Ok(())
    }),
    protection(
        "auth-secret-type",
        Carried,
        "`auth-file` (one entry `auth`) or `auth-map` (an entry for each user)",
        |value, settings| match value {
            "auth-file" | "auth-map" => {
                settings.is_user_map = value == "auth-map";
                Ok(())
            }
            other => Err(format!("{other:?} is neither auth-file nor auth-map")),
        },
    ),
    row("auth-realm", Approximated, "the realm is the name of the Ingress", |_, _| Ok(())),
    protection(
        "auth-url",
        Carried,
        "`tollgate.forward_auth`. `$host` is replaced if the Ingress has one host",
        |value, settings| {
            settings.auth_url = Some(value.to_owned());
            Ok(())
        },
    ),
    protection("auth-method", Carried, "`GET` or `POST`", |value, settings| match value {
        "GET" | "POST" => {
            settings.auth_posts = value == "POST";
            Ok(())
        }
        other => Err(format!("the method {other} is not supported")),
    }),
    row("auth-response-headers", Carried, "headers of the answer for the backend", |value, settings| {
        settings.auth_headers = list(value);
        Ok(())
    }),
    row("auth-signin", Carried, "where clients log in: 302 in place of 401", |value, settings| {
        settings.signin = Some(request_text(value)?);
        Ok(())
    }),
    row("auth-signin-redirect-param", Carried, "the parameter with the way back; `rd` without it", |value, settings| {
        settings.signin_parameter = Some(value.to_owned());
        Ok(())
    }),
    row("auth-request-redirect", Approximated, "the service gets path and query in `X-Auth-Request-Redirect`", |_, _| Ok(())),
    row("auth-always-set-cookie", Approximated, "cookies of the service reach clients that it refuses", |_, _| Ok(())),
    row("auth-cache-key", Approximated, "answers are kept for requests that say the same to the service, if at all", |_, _| Ok(())),
    row("auth-cache-duration", Approximated, "answers are not kept", |_, _| Ok(())),
    row("auth-keepalive", Approximated, "connections to the service are kept", |_, _| Ok(())),
    row("auth-keepalive-requests", Approximated, "connections to the service are kept", |_, _| Ok(())),
    row("auth-keepalive-timeout", Approximated, "connections to the service are kept", |_, _| Ok(())),
    row("auth-keepalive-share-vars", Approximated, "connections to the service are kept", |_, _| Ok(())),
    protection("auth-proxy-set-headers", Missing, "headers for the service can't come from a ConfigMap", |_, _| Ok(())),
    protection("auth-snippet", Missing, "there is no nginx that could carry it out", |_, _| Ok(())),
    row("enable-global-auth", Approximated, "there is no global service for authentication", |_, _| Ok(())),
    protection("satisfy", Approximated, "`all`", |value, _| match value {
        "all" => Ok(()),
        _ => Err("one of several checks is not enough: only all is supported".to_owned()),
    }),
    protection(
        "auth-tls-secret",
        Carried,
        "clients of the hosts must show a certificate of the authorities in the Secret (`ca.crt`)",
        |value, settings| {
            settings.client_authorities = Some(value.to_owned());
            Ok(())
        },
    ),
    protection("auth-tls-verify-client", Carried, "`on`, or `off` for no certificates", |value, settings| match value {
        "on" => Ok(()),
        "off" => {
            settings.ignores_clients = true;
            Ok(())
        }
        other => Err(format!("{other} is not supported: only on and off are")),
    }),
    protection("auth-tls-match-cn", Missing, "certificates are not told apart by their names", |_, _| Ok(())),
    row("auth-tls-verify-depth", Approximated, "chains of any length that the library takes", |_, _| Ok(())),
    row("auth-tls-error-page", Missing, "clients without a certificate do not get as far as a page", |_, _| Ok(())),
    row(
        "auth-tls-pass-certificate-to-upstream",
        Carried,
        "the backend gets the certificate in `ssl-client-cert`, in PEM, escaped as in URLs",
        |value, settings| {
            settings.passes_certificate = boolean(value)?;
            Ok(())
        },
    ),
    protection(
        "proxy-ssl-verify",
        Carried,
        "whether the certificate of a backend is checked; `off` without it",
        |value, settings| {
            settings.backend.is_verified = boolean(value)?;
            Ok(())
        },
    ),
    row(
        "proxy-ssl-secret",
        Carried,
        "the Secret with the gateway's certificate for backends, and with their authorities (`ca.crt`)",
        |value, settings| {
            settings.backend.secret = Some(value.to_owned());
            Ok(())
        },
    ),
    row(
        "enable-cors",
        Carried,
        "cross-origin requests, with the values that ingress-nginx has without the others",
        |value, settings| {
            settings.allows_origins = boolean(value)?;
            Ok(())
        },
    ),
    row("cors-allow-origin", Carried, "origins", |value, settings| {
        let origins = list(value);
        if let Some(origin) =
            origins.iter().find(|origin| *origin != "*" && (!origin.contains("://") || origin.matches('*').count() > 1))
        {
            return Err(format!("{origin:?} is no origin"));
        }
        settings.cors.insert("allow_origins".to_owned(), json!(origins));
        Ok(())
    }),
    row("cors-allow-methods", Carried, "methods", |value, settings| {
        settings.cors.insert("allow_methods".to_owned(), json!(list(value)));
        Ok(())
    }),
    row("cors-allow-headers", Carried, "headers of requests", |value, settings| {
        settings.cors.insert("allow_headers".to_owned(), json!(list(value)));
        Ok(())
    }),
    row("cors-expose-headers", Carried, "headers of responses", |value, settings| {
        settings.cors.insert("expose_headers".to_owned(), json!(list(value)));
        Ok(())
    }),
    row("cors-allow-credentials", Carried, "cookies and credentials; `true` without it", |value, settings| {
        settings.cors.insert("allow_credentials".to_owned(), json!(boolean(value)?));
        Ok(())
    }),
    row("cors-max-age", Carried, "how long browsers keep the answer", |value, settings| {
        settings.cors.insert("max_age_s".to_owned(), json!(u32::try_from(number(value)?).unwrap_or(u32::MAX)));
        Ok(())
    }),
];
