//! `tollgate status` and `tollgate reload`.

use super::session::shown;
use super::{CommandFailure, Gateway, print, table};
use serde_json::{Value, json};

/// Shows whether the gateway is up and ready, and how much it serves; fails if it is not ready.
pub(super) fn status(gateway: &Gateway) -> Result<(), CommandFailure> {
    let [hello, ready] = &gateway.health_names;
    let (_, hello) = gateway.ask("GET", &format!("/{hello}"), None)?;
    let (ready_status, ready) = gateway.ask("GET", &format!("/{ready}"), None)?;
    let is_ready = ready_status == 200;
    let count = |path: &str, list: fn(&Value) -> Option<&Vec<Value>>| match gateway.get(path) {
        Ok(document) => Ok(list(&document).map(Vec::len)),
        // Hashed keys may not be listed: then the number is unknown.
        Err(CommandFailure::Refused(_)) => Ok(None),
        Err(failure) => Err(failure),
    };
    let apis = count("/tyk/apis", Value::as_array)?;
    let policies = count("/tyk/policies", Value::as_array)?;
    let keys = count("/tyk/keys", |document| document.get("keys")?.as_array())?;
    let address = gateway.connection.address().to_string();
    let document = json!({
        "url": address, "version": hello.get("version"), "status": hello.get("status"), "ready": is_ready,
        "apis": apis, "policies": policies, "keys": keys,
    });
    gateway.print(&document, || {
        let number = |count: Option<usize>| count.map_or("-".to_owned(), |count| count.to_string());
        let readiness = if is_ready { "yes".to_owned() } else { format!("no: {}", shown(&ready, "message")) };
        table::pairs(vec![
            ("gateway", address),
            ("version", shown(&hello, "version")),
            ("status", shown(&hello, "status")),
            ("ready", readiness),
            ("apis", number(apis)),
            ("policies", number(policies)),
            ("keys", number(keys)),
        ])
    });
    if is_ready { Ok(()) } else { Err(CommandFailure::Refused("the gateway is not ready".to_owned())) }
}

/// Shows the targets of APIs with rules for their upstreams.
pub(super) fn upstreams(gateway: &Gateway) -> Result<(), CommandFailure> {
    let live = gateway.get("/tyk/live")?;
    let apis = live.get("apis").and_then(Value::as_array).into_iter().flatten();
    let with_api = apis.flat_map(|api| {
        let targets = api.get("targets").and_then(Value::as_array).into_iter().flatten();
        targets.map(move |target| (shown(api, "api_id"), target))
    });
    let targets: Vec<(String, &Value)> = with_api.collect();
    let document: Vec<Value> = targets
        .iter()
        .map(|(api, target)| {
            let mut target = (*target).clone();
            if let Some(target) = target.as_object_mut() {
                target.insert("api_id".to_owned(), api.as_str().into());
            }
            target
        })
        .collect();
    gateway.print(&json!(document), || {
        let header = [
            "api",
            "part",
            "target",
            "state",
            "in flight",
            "latency ms",
            "requests",
            "faults",
            "ejections",
            "retries",
            "budget left",
        ];
        let row = |(api, target): &(String, &Value)| {
            let number = |name: &str| target.get(name).and_then(Value::as_u64).unwrap_or_default();
            let (state, cause) = (shown(target, "state"), target.get("cause").and_then(Value::as_str).unwrap_or_default());
            let part = target.get("part").and_then(Value::as_str).filter(|part| !part.is_empty()).unwrap_or("-");
            let mut row = vec![api.clone(), part.to_owned(), shown(target, "url")];
            row.push(if cause.is_empty() { state } else { format!("{state}: {cause}") });
            row.push(number("in_flight").to_string());
            row.push(format!("{:.1}", number("latency_us") as f64 / 1_000.0));
            row.extend(["requests", "faults", "ejections", "retries", "retry_budget_left"].map(|name| number(name).to_string()));
            row
        };
        match targets.is_empty() {
            true => "no API has rules for its upstreams".to_owned(),
            false => table::columns(&header, targets.iter().map(row).collect()),
        }
    });
    Ok(())
}

/// Checks only readiness: one request that costs the gateway nothing.
pub(super) fn ready(gateway: &Gateway) -> Result<(), CommandFailure> {
    let [_, ready] = &gateway.health_names;
    let (status, document) = gateway.ask("GET", &format!("/{ready}"), None)?;
    if status != 200 {
        return Err(CommandFailure::Refused(format!("the gateway is not ready: {}", shown(&document, "message"))));
    }
    gateway.print(&document, || "ready".to_owned());
    Ok(())
}

/// Reloads and waits; fails if a file is broken.
pub(super) fn reload(gateway: &Gateway) -> Result<(), CommandFailure> {
    let answer = gateway.get("/tyk/reload?block=true")?;
    if gateway.json {
        print(&answer.to_string());
    }
    let problems: Vec<&str> =
        answer.get("problems").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    if problems.is_empty() {
        if !gateway.json {
            print("reloaded");
        }
        return Ok(());
    }
    Err(CommandFailure::Refused(format!(
        "reloaded, but some files are broken; their last good versions serve on\n{}",
        problems.join("\n")
    )))
}
