//! Attributes, and the two sets of them that identify the source of spans and metrics.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;

/// Environment variable with resource attributes from the operator, as in OpenTelemetry's libraries: `key=value,key=value`.
const RESOURCE_VARIABLE: &str = "OTEL_RESOURCE_ATTRIBUTES";

pub fn text(key: &str, value: impl Into<String>) -> KeyValue {
    with(key, Value::StringValue(value.into()))
}

pub fn number(key: &str, value: impl Into<i64>) -> KeyValue {
    with(key, Value::IntValue(value.into()))
}

pub fn decimal(key: &str, value: f64) -> KeyValue {
    with(key, Value::DoubleValue(value))
}

pub fn flag(key: &str, value: bool) -> KeyValue {
    with(key, Value::BoolValue(value))
}

pub fn texts<const N: usize>(key: &str, values: [&str; N]) -> KeyValue {
    let values = values.map(|value| AnyValue { value: Some(Value::StringValue(value.to_owned())) });
    with(key, Value::ArrayValue(ArrayValue { values: values.into() }))
}

fn with(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

/// The resource: this gateway.
pub fn resource(service_name: &str) -> Resource {
    let given = std::env::var(RESOURCE_VARIABLE).unwrap_or_default();
    let given: Vec<(&str, &str)> = given.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let instance = format!("{}-{}", host.trim(), std::process::id());
    let own = [
        ("service.name", service_name),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", &instance),
        ("host.name", host.trim()),
        // Tyk's name of the same.
        ("tyk.gw.id", &instance),
    ];
    let own = own.into_iter().filter(|(key, _)| !given.iter().any(|(given, _)| given.trim() == *key));
    let texts = own.chain(given.iter().copied()).map(|(key, value)| text(key.trim(), value.trim()));
    // Tyk's, for gateways that get their definitions from a control plane elsewhere.
    let attributes = texts.chain([flag("tyk.gw.dataplane", false)]).collect();
    Resource { attributes, ..Resource::default() }
}

/// The instrumentation scope of spans and metrics.
pub fn scope() -> InstrumentationScope {
    let (name, version) = ("tollgate".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    InstrumentationScope { name, version, ..InstrumentationScope::default() }
}
