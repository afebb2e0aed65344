//! The page on which users agree that a client may be let in as them. Whoever registers a client chooses its name and where users are sent: users
//! see both, and nothing happens before they agree.

use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tollgate_model::hidden_character::is_hidden;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;color:#1b1f24;background:#f4f5f7;margin:0;display:grid;min-height:100vh;place-items:center}\
main{background:#fff;border:1px solid #d8dce2;border-radius:8px;padding:2rem;max-width:30rem;margin:1rem}\
h1{font-size:1.25rem;margin:0 0 1rem}code{background:#f0f1f4;border-radius:4px;padding:.1rem .3rem;word-break:break-all}\
p{margin:.6rem 0}form{display:flex;gap:.75rem;margin-top:1.5rem}button{font:inherit;padding:.5rem 1.25rem;border-radius:6px;border:1px solid #b9c0ca;background:#fff;cursor:pointer}\
button.agree{background:#1f5fbf;border-color:#1f5fbf;color:#fff}button:focus-visible{outline:3px solid #8db4f0}\
@media(prefers-color-scheme:dark){body{background:#15181c;color:#e6e8eb}main{background:#1e2227;border-color:#3a4049}code{background:#2a2f36}button{background:#2a2f36;color:inherit;border-color:#4a515c}}";

/// What users are asked.
pub(super) struct Consent<'c> {
    pub client: &'c str,
    /// Of the document that says who the client is; a registered one has none.
    pub host: Option<&'c str>,
    pub api: &'c str,
    pub scope: &'c str,
    /// Where the client has users sent back.
    pub redirect_uri: &'c str,
    /// The sealed request.
    pub request: &'c str,
}

impl Consent<'_> {
    pub(super) fn page(&self) -> Response {
        let client =
            if self.client.chars().all(|c| is_hidden(c) || c.is_whitespace()) { "A client without a name" } else { self.client };
        let scope =
            if self.scope.is_empty() { String::new() } else { format!("<p>It asks for: <code>{}</code></p>", escaped(self.scope)) };
        let host = self.host.map(|host| format!("<p>The server <code>{}</code> says who it is.</p>", escaped(host)));
        let host = host.unwrap_or_default();
        let body = format!(
            "<h1><bdi>{client}</bdi> wants to use <bdi>{api}</bdi></h1>{host}<p>If you agree, it can call <bdi>{api}</bdi> as you.</p>{scope}\
             <p>You are then sent to <code>{redirect}</code>. Agree only if you have started this yourself, and know that address.</p>\
             <form method=\"post\"><input type=\"hidden\" name=\"request\" value=\"{request}\">\
             <button class=\"agree\" name=\"decision\" value=\"agree\">Agree</button><button name=\"decision\" value=\"refuse\">Refuse</button></form>",
            client = escaped(client.trim()),
            api = escaped(self.api),
            redirect = escaped(self.redirect_uri),
            request = escaped(self.request),
        );
        html(StatusCode::OK, "Agree?", &body)
    }
}

/// Why a user is sent nowhere.
pub(super) fn refusal(why: &str) -> Response {
    html(StatusCode::BAD_REQUEST, "Refused", &format!("<h1>This request is refused</h1><p>{}</p>", escaped(why)))
}

fn html(status: StatusCode, title: &str, body: &str) -> Response {
    let text = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style></head><body><main>{body}</main></body></html>\n"
    );
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_FRAME_OPTIONS, "DENY"),
        // Without it, browsers would not say that the form's answer comes from this page.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
    ];
    (status, headers, text).into_response()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_hidden(*c)) {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
