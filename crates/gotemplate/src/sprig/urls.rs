//! URLs as maps of their parts.

use crate::arguments::{Function, FunctionResult, call, map, text};
use crate::go_url::{self, UrlParts};
use crate::value::Value;

pub(super) static FUNCTIONS: &[Function] = &[call("urlParse", 1, 1, parse), call("urlJoin", 1, 1, join)];

fn parse(given: &[Value]) -> FunctionResult {
    let parts = UrlParts::parse(text(given, 0)?).map_err(|why| format!("unable to parse url: {why}"))?;
    let userinfo = parts.userinfo.as_ref().map(ToString::to_string).unwrap_or_default();
    Ok(Value::map([
        ("hostname", Value::from(parts.hostname())),
        ("scheme", Value::from(parts.scheme)),
        ("host", Value::from(parts.host)),
        ("path", Value::from(parts.path)),
        ("query", Value::from(parts.query)),
        ("opaque", Value::from(parts.opaque)),
        ("fragment", Value::from(parts.fragment)),
        ("userinfo", Value::from(userinfo)),
    ]))
}

fn join(given: &[Value]) -> FunctionResult {
    let members = map(given, 0)?;
    let member = |name: &str| match members.get(name) {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.to_string()),
        Some(other) => Err(format!("unable to parse {name} key, must be of type string, but {} found", other.type_name())),
    };
    let userinfo = member("userinfo")?;
    let userinfo = go_url::userinfo(&userinfo).map_err(|why| format!("unable to parse userinfo in dict: {why}"))?;
    let parts = UrlParts {
        scheme: member("scheme")?,
        opaque: member("opaque")?,
        userinfo,
        host: member("host")?,
        path: member("path")?,
        query: member("query")?,
        fragment: member("fragment")?,
    };
    Ok(parts.to_string().into())
}
