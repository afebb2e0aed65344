//! Classic Tyk definitions, keys and the control API, for both Tyk and Tollgate.

use super::settings::limits;
use super::tyk_words::{api_id, control_headers, merge, right};
use super::{ControlRequest, Reload, Setup, tyk_credentials};
use crate::probe;
use crate::scenario::{Auth, Case, KeySpec};
use serde_json::{Value, json};
use std::path::PathBuf;

const REDIS_PORT: &str = "{redis_port}";

/// Writes the definitions of all cases into `apps`.
pub(crate) fn write_definitions(setup: &Setup) -> Result<PathBuf, String> {
    let apps = setup.directory("apps")?;
    for (number, case) in setup.cases.iter().enumerate() {
        for (index, listen) in case.listens().enumerate() {
            let id = api_id(number, index);
            let definition = definition(case, &id, &listen, setup);
            setup.write(&format!("apps/{id}.json"), definition.to_string())?;
        }
    }
    Ok(apps)
}

/// Creates the keys of all cases through the control API.
pub(crate) fn create_keys(setup: &Setup, session: impl Fn(&KeySpec, &str) -> Value) -> Result<(), String> {
    for (number, case) in setup.cases.iter().enumerate() {
        let Some(key) = &case.key else { continue };
        let asked = api_id(number, case.api.among as usize / 2);
        let path = format!("/tyk/keys/{}", key.value);
        let answer =
            probe::send(setup.listener(), "POST", &path, &control_headers(setup), session(key, &asked).to_string().as_bytes())?;
        if answer.status != 200 {
            return Err(format!("the key {} was refused with {}: {}", key.value, answer.status, answer.body.trim()));
        }
    }
    Ok(())
}

/// Reloads a gateway through its control API.
pub(crate) fn reload(setup: &Setup) -> Reload {
    Reload::Request(ControlRequest { method: "GET", path: "/tyk/reload/?block=true", headers: control_headers(setup) })
}

/// The session of a key: the right to call one API, limits, quota.
pub(crate) fn session(key: &KeySpec, api_id: &str) -> Value {
    let mut right = right(api_id);
    if !key.methods.is_empty() {
        right["allowed_urls"] = json!([{"url": "/.*", "methods": key.methods}]);
    }
    let mut session = json!({"org_id": "default", "expires": 0, "quota_max": -1, "access_rights": {api_id: right}});
    if let Some(limit) = key.limits.first() {
        session["rate"] = limit.requests.into();
        session["per"] = limit.seconds.into();
        session["allowance"] = limit.requests.into();
    }
    if let Some(quota) = key.quota {
        session["quota_max"] = quota.requests.into();
        session["quota_remaining"] = quota.requests.into();
        session["quota_renewal_rate"] = quota.seconds.into();
    }
    session
}

/// The part of `tyk.conf` that both gateways read. An unknown key is answered with 401, as the published scenarios expect.
pub(crate) fn conf(setup: &Setup, apps: &std::path::Path) -> Value {
    json!({
        "listen_address": setup.listen_address,
        "listen_port": setup.address.port(),
        "secret": setup.secret,
        "app_path": apps,
        "min_token_length": 2,
        "enable_analytics": setup.cases.iter().any(|case| case.api.analytics),
        "http_server_options": {"enable_strict_routes": true, "enable_websockets": true},
        "override_messages": {
            "auth.key_not_found": {"code": 401, "message": "Key not authorised"}
        },
        "policies": {"policy_source": "file"},
    })
}

/// Makes the gateway speak TLS, and HTTP/2, if the cases need it.
pub(crate) fn add_tls(conf: &mut Value, setup: &Setup) {
    if let Some(files) = setup.certificate {
        conf["http_server_options"]["use_ssl"] = true.into();
        conf["http_server_options"]["certificates"] = json!([{"cert_file": files.certificate, "key_file": files.key}]);
    }
    if setup.speaks_http2() {
        conf["http_server_options"]["enable_http2"] = true.into();
    }
}

/// Merges the settings of the cases into a configuration; returns whether they name a Redis.
pub(crate) fn add_settings(conf: &mut Value, setup: &Setup) -> Result<bool, String> {
    let mut names_redis = false;
    for case in &setup.cases {
        let settings = serde_json::to_value(&case.settings).map_err(|error| format!("settings of {}: {error}", case.name))?;
        names_redis |= settings.to_string().contains(REDIS_PORT);
        merge(conf, resolved(settings, setup));
    }
    Ok(names_redis)
}

/// Replaces the placeholders in texts; a text that consists only of a port becomes a number.
fn resolved(value: Value, setup: &Setup) -> Value {
    let ports = [
        (REDIS_PORT, setup.second_port),
        ("{statsd_port}", setup.sink_ports.statsd),
        ("{collector_port}", setup.sink_ports.collector),
    ];
    match value {
        Value::String(text) => {
            if let Some((_, port)) = ports.iter().find(|(place, _)| *place == text) {
                return json!(port);
            }
            let text = text.replace("{dir}", &setup.dir.display().to_string());
            json!(ports.iter().fold(text, |text, (place, port)| text.replace(place, &port.to_string())))
        }
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, resolved(value, setup))).collect(),
        Value::Array(values) => values.into_iter().map(|value| resolved(value, setup)).collect(),
        value => value,
    }
}

fn definition(case: &Case, id: &str, listen: &str, setup: &Setup) -> Value {
    let api = &case.api;
    let mut definition = json!({
        "name": id,
        "api_id": id,
        "org_id": "default",
        "active": true,
        "use_keyless": api.auth.is_none() && api.auth_method.is_none(),
        "definition": {"location": "header", "key": "x-api-version"},
        "version_data": {
            "not_versioned": true,
            "versions": {"Default": {"name": "Default", "use_extended_paths": true, "global_headers": api.set_headers, "global_response_headers": api.set_response_headers}},
        },
        "proxy": {"listen_path": listen, "target_url": format!("http://{}/", setup.upstream), "strip_listen_path": true},
        "do_not_track": !api.analytics,
        "disable_rate_limit": limits(case).is_empty(),
        "disable_quota": case.key.as_ref().is_none_or(|key| key.quota.is_none()),
    });
    match &api.auth {
        Some(Auth::Header(name)) => definition["auth"] = json!({"auth_header_name": name}),
        Some(Auth::Query(name)) => {
            definition["auth"] = json!({"auth_header_name": "Authorization", "use_param": true, "param_name": name});
        }
        None => {}
    }
    if let Some(method) = api.auth_method {
        merge(&mut definition, tyk_credentials::definition(method, setup));
    }
    if let Some(limit) = api.limit {
        definition["global_rate_limit"] = json!({"rate": limit.requests, "per": limit.seconds});
    }
    if !api.allow_ips.is_empty() {
        definition["enable_ip_whitelisting"] = true.into();
        definition["allowed_ips"] = json!(api.allow_ips);
    }
    if !api.set_response_headers.is_empty() {
        definition["response_processors"] = json!([{"name": "header_injector"}]);
    }
    if api.cache {
        definition["tollgate"] = json!({"cache": {}});
    }
    if let Ok(extra) = serde_json::to_value(&api.definition) {
        merge(&mut definition, extra);
    }
    definition
}
