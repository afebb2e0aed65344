//! Cross-origin resource sharing. Reads `CORS`. The client sees 204 for a preflight request, and `Access-Control-*` headers on responses to
//! an allowed origin; the upstream's own are removed. Does not use the store.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use std::sync::Arc;
use tollgate_http::{KnownHeader, is_token, is_value};
use tollgate_model::api::Cors;

/// Headers that the gateway controls when the rules are enabled.
pub(super) const OWN: [&str; 4] = [
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
    "Access-Control-Allow-Credentials",
    "Access-Control-Allow-Methods",
];

pub(super) struct CrossOrigin {
    origins: AllowedOrigins,
    methods: Vec<String>,
    /// Lower case; `None` for any.
    headers: Option<Vec<String>>,
    exposed: Option<String>,
    credentials: bool,
    max_age: Option<String>,
    passthrough: bool,
    own: Vec<Arc<str>>,
}

pub(super) enum AllowedOrigins {
    Any,
    /// Allowed origins as prefix and suffix around at most one `*`, in lower case.
    Listed(Vec<(String, Option<String>)>),
}

impl CrossOrigin {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        source.definition.cors().map(|cors| Box::new(CrossOrigin::new(cors)) as Box<dyn Middleware>)
    }

    fn new(cors: &Cors) -> Self {
        let or = |list: &[String], default: &[&str]| -> Vec<String> {
            if list.is_empty() { default.iter().map(|&entry| entry.to_owned()).collect() } else { list.to_vec() }
        };
        let any_header = cors.allowed_headers.iter().any(|name| name == "*");
        let headers = or(&cors.allowed_headers, &["Accept", "Content-Type", "X-Requested-With"]);
        let headers = headers.iter().map(|name| name.to_ascii_lowercase()).chain(["origin".to_owned()]).collect();
        CrossOrigin {
            origins: AllowedOrigins::new(&cors.allowed_origins),
            methods: or(&cors.allowed_methods, &["GET", "POST", "HEAD"]).iter().map(|method| method.to_ascii_uppercase()).collect(),
            headers: if any_header { None } else { Some(headers) },
            exposed: Some(cors.exposed_headers.join(", ")).filter(|names| !names.is_empty()),
            credentials: cors.allow_credentials,
            max_age: (cors.max_age > 0).then(|| cors.max_age.to_string()),
            passthrough: cors.options_passthrough,
            own: OWN.into_iter().map(Arc::from).collect(),
        }
    }

    fn allows_method(&self, method: &str) -> bool {
        method == "OPTIONS" || self.methods.iter().any(|allowed| allowed == method)
    }

    fn allows_headers(&self, asked: &str) -> bool {
        let Some(allowed) = &self.headers else { return true };
        let mut names = asked.split(',').map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty());
        names.all(|name| allowed.contains(&name))
    }

    /// Adds the origin headers, which preflight and other responses share.
    fn allow_origin(&self, origin: &[u8], changes: &mut Vec<HeaderChange>) {
        let value = if matches!(self.origins, AllowedOrigins::Any) { b"*" } else { origin };
        changes.push(HeaderChange::Set("Access-Control-Allow-Origin".into(), value.to_vec()));
    }

    fn preflight(&self, exchange: &Exchange<'_>, asked_method: &str) -> Vec<HeaderChange> {
        let add = |name: &str, value: &str| HeaderChange::Add(name.into(), value.as_bytes().to_vec());
        let mut changes = vec![add("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")];
        let headers = &exchange.request.headers;
        let origin = headers.known(KnownHeader::Origin).unwrap_or_default();
        let asked_method = asked_method.to_ascii_uppercase();
        let asked_headers = headers.get("access-control-request-headers").and_then(|value| std::str::from_utf8(value).ok());
        let asked_headers = asked_headers.unwrap_or_default();
        let allowed = !origin.is_empty()
            && self.origins.allow(origin)
            && is_token(asked_method.as_bytes())
            && self.allows_method(&asked_method)
            && is_value(asked_headers.as_bytes())
            && self.allows_headers(asked_headers);
        if !allowed {
            return changes;
        }
        self.allow_origin(origin, &mut changes);
        changes.push(add("Access-Control-Allow-Methods", &asked_method));
        if !asked_headers.is_empty() {
            changes.push(add("Access-Control-Allow-Headers", asked_headers));
        }
        if self.credentials {
            changes.push(add("Access-Control-Allow-Credentials", "true"));
        }
        if let Some(seconds) = &self.max_age {
            changes.push(add("Access-Control-Max-Age", seconds));
        }
        changes
    }

    fn actual(&self, exchange: &Exchange<'_>) -> Vec<HeaderChange> {
        let mut changes: Vec<HeaderChange> = self.own.iter().cloned().map(HeaderChange::Remove).collect();
        changes.push(HeaderChange::Add("Vary".into(), b"Origin".to_vec()));
        let origin = exchange.received().known(KnownHeader::Origin).unwrap_or_default();
        if origin.is_empty() || !self.origins.allow(origin) || !self.allows_method(&exchange.method) {
            return changes;
        }
        self.allow_origin(origin, &mut changes);
        if let Some(names) = &self.exposed {
            changes.push(HeaderChange::Set("Access-Control-Expose-Headers".into(), names.as_bytes().to_vec()));
        }
        if self.credentials {
            changes.push(HeaderChange::Set("Access-Control-Allow-Credentials".into(), b"true".to_vec()));
        }
        changes
    }
}

impl AllowedOrigins {
    pub(super) fn new(entries: &[String]) -> Self {
        if entries.is_empty() || entries.iter().any(|entry| entry == "*") {
            return AllowedOrigins::Any;
        }
        let split = |entry: &String| {
            let entry = entry.to_ascii_lowercase();
            match entry.split_once('*') {
                Some((prefix, suffix)) => (prefix.to_owned(), Some(suffix.to_owned())),
                None => (entry, None),
            }
        };
        AllowedOrigins::Listed(entries.iter().map(split).collect())
    }

    pub(super) fn allow(&self, origin: &[u8]) -> bool {
        let AllowedOrigins::Listed(entries) = self else { return true };
        let origin = origin.to_ascii_lowercase();
        entries.iter().any(|(prefix, suffix)| match suffix {
            None => origin == prefix.as_bytes(),
            Some(suffix) => {
                origin.len() >= prefix.len() + suffix.len()
                    && origin.starts_with(prefix.as_bytes())
                    && origin.ends_with(suffix.as_bytes())
            }
        })
    }
}

/// The method that a preflight request asks for; `None` for any other request.
pub(super) fn preflight_method<'a>(exchange: &Exchange<'a>) -> Option<&'a str> {
    if exchange.method != "OPTIONS" {
        return None;
    }
    let asked = exchange.received().get("access-control-request-method")?;
    std::str::from_utf8(asked).ok().filter(|method| !method.is_empty())
}

impl Middleware for CrossOrigin {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(asked_method) = preflight_method(exchange) else {
            let changes = self.actual(exchange);
            exchange.response.changes.extend(changes);
            if exchange.method != "OPTIONS" || self.passthrough {
                return Step::Next;
            }
            // The gateway answers every OPTIONS request for the upstream.
            exchange.begin_reply(200);
            return Step::Reply;
        };
        let changes = self.preflight(exchange, asked_method);
        exchange.response.changes.extend(changes);
        if self.passthrough {
            return Step::Next;
        }
        exchange.begin_reply(204);
        Step::Reply
    }
}
