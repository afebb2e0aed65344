//! What the protocol says of entries of lists. Official clients refuse a whole list for one entry that is wrong; such an entry is withheld.

use serde_json::Value;

/// A type of JSON.
#[derive(Clone, Copy)]
enum JsonType {
    Text,
    Flag,
    Number,
    Object,
    List,
}

impl JsonType {
    fn is_of(self, value: &Value) -> bool {
        match self {
            JsonType::Text => value.is_string(),
            JsonType::Flag => value.is_boolean(),
            JsonType::Number => value.is_number(),
            JsonType::Object => value.is_object(),
            JsonType::List => value.is_array(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            JsonType::Text => "a string",
            JsonType::Flag => "a boolean",
            JsonType::Number => "a number",
            JsonType::Object => "an object",
            JsonType::List => "an array",
        }
    }
}

/// Leaves members out that are `null`, as some servers write what they do not say.
pub(crate) fn without_nulls(entry: &Value) -> Value {
    let mut entry = entry.clone();
    if let Some(members) = entry.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    entry
}

/// Checks a tool.
///
/// # Errors
/// What is wrong.
pub(crate) fn check_tool(tool: &Value) -> Result<(), String> {
    check_common(tool)?;
    let input = tool.get("inputSchema").ok_or("it has no inputSchema")?;
    check_schema(input, "inputSchema")?;
    if input.get("type") != Some(&"object".into()) {
        return Err("the type of its inputSchema is not \"object\"".to_owned());
    }
    if let Some(output) = tool.get("outputSchema") {
        check_schema(output, "outputSchema")?;
    }
    if let Some(annotations) = tool.get("annotations") {
        may_be(annotations, "annotations.title", JsonType::Text)?;
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            may_be(annotations, &format!("annotations.{hint}"), JsonType::Flag)?;
        }
    }
    may_be(tool, "execution", JsonType::Object)
}

/// Checks a prompt.
///
/// # Errors
/// What is wrong.
pub(crate) fn check_prompt(prompt: &Value) -> Result<(), String> {
    check_common(prompt)?;
    may_be(prompt, "arguments", JsonType::List)?;
    for argument in prompt.get("arguments").and_then(Value::as_array).into_iter().flatten() {
        if argument.get("name").is_none() {
            return Err("one of its arguments has no name".to_owned());
        }
        may_be(argument, "arguments.name", JsonType::Text)?;
        may_be(argument, "arguments.description", JsonType::Text)?;
        may_be(argument, "arguments.required", JsonType::Flag)?;
    }
    Ok(())
}

/// Checks a resource, or a template of resources.
///
/// # Errors
/// What is wrong.
pub(crate) fn check_resource(resource: &Value) -> Result<(), String> {
    if resource.get("name").is_none() {
        return Err("it has no name".to_owned());
    }
    check_common(resource)?;
    may_be(resource, "name", JsonType::Text)?;
    may_be(resource, "mimeType", JsonType::Text)?;
    may_be(resource, "size", JsonType::Number)
}

fn check_common(entry: &Value) -> Result<(), String> {
    may_be(entry, "title", JsonType::Text)?;
    may_be(entry, "description", JsonType::Text)?;
    may_be(entry, "annotations", JsonType::Object)?;
    may_be(entry, "_meta", JsonType::Object)?;
    may_be(entry, "icons", JsonType::List)?;
    let mut icons = entry.get("icons").and_then(Value::as_array).into_iter().flatten();
    if icons.any(|icon| !icon.get("src").is_some_and(Value::is_string)) {
        return Err("one of its icons has no src".to_owned());
    }
    Ok(())
}

/// What clients read of a schema before they compile it.
fn check_schema(schema: &Value, name: &str) -> Result<(), String> {
    if !schema.is_object() {
        return Err(format!("its {name} is not an object"));
    }
    may_be(schema, &format!("{name}.properties"), JsonType::Object)?;
    if schema.get("properties").and_then(Value::as_object).is_some_and(|all| all.values().any(|property| !property.is_object())) {
        return Err(format!("a property of its {name} is not an object"));
    }
    may_be(schema, &format!("{name}.required"), JsonType::List)?;
    if schema.get("required").and_then(Value::as_array).is_some_and(|all| all.iter().any(|required| !required.is_string())) {
        return Err(format!("its {name}.required has something else than strings"));
    }
    Ok(())
}

/// Checks a member that may be missing. `path` is how it is told; it ends with its name.
fn may_be(entry: &Value, path: &str, kind: JsonType) -> Result<(), String> {
    let name = path.rsplit('.').next().unwrap_or(path);
    match entry.get(name) {
        Some(value) if !kind.is_of(value) => Err(format!("its {path} is not {}", kind.name())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{check_prompt, check_resource, check_tool, without_nulls};
    use serde_json::{Value, json};

    fn with(mut entry: Value, name: &str, value: Value) -> Value {
        entry[name] = value;
        entry
    }

    #[test]
    fn an_entry_that_official_clients_refuse_is_told_and_others_are_not() {
        let object = json!({"type": "object"});
        let tool = json!({"name": "t", "title": "T", "description": "d", "inputSchema": object, "outputSchema": object,
            "annotations": {"title": "t", "readOnlyHint": true, "own": 1}, "icons": [{"src": "data:,"}], "_meta": {}, "own": 1});
        let prompt = json!({"name": "p", "arguments": [{"name": "a", "description": "d", "required": true}]});
        let resource = json!({"uri": "x:1", "name": "r", "mimeType": "text/plain", "size": 1, "annotations": {"priority": 1}});
        let broken_tools = [
            ("inputSchema", json!(true), "its inputSchema is not an object"),
            ("inputSchema", json!({}), "the type of its inputSchema is not \"object\""),
            ("inputSchema", json!({"type": ["object"]}), "the type of its inputSchema is not \"object\""),
            ("inputSchema", json!({"type": "object", "properties": []}), "its inputSchema.properties is not an object"),
            ("inputSchema", json!({"type": "object", "properties": {"a": true}}), "a property of its inputSchema is not an object"),
            ("inputSchema", json!({"type": "object", "required": "a"}), "its inputSchema.required is not an array"),
            ("inputSchema", json!({"type": "object", "required": [1]}), "its inputSchema.required has something else than strings"),
            ("outputSchema", json!("x"), "its outputSchema is not an object"),
            ("description", json!(1), "its description is not a string"),
            ("title", json!({}), "its title is not a string"),
            ("annotations", json!([]), "its annotations is not an object"),
            ("annotations", json!({"readOnlyHint": "yes"}), "its annotations.readOnlyHint is not a boolean"),
            ("annotations", json!({"title": 1}), "its annotations.title is not a string"),
            ("icons", json!([{}]), "one of its icons has no src"),
            ("_meta", json!(1), "its _meta is not an object"),
            ("execution", json!(1), "its execution is not an object"),
        ];
        assert_eq!(check_tool(&tool), Ok(()));
        for (name, value, why) in broken_tools {
            assert_eq!(check_tool(&with(tool.clone(), name, value)), Err(why.to_owned()));
        }
        assert_eq!(check_tool(&json!({"name": "t"})), Err("it has no inputSchema".to_owned()));
        assert_eq!(check_tool(&without_nulls(&with(tool, "outputSchema", Value::Null))), Ok(()));
        let broken_prompts = [
            (json!({}), "its arguments is not an array"),
            (json!([{}]), "one of its arguments has no name"),
            (json!(["a"]), "one of its arguments has no name"),
            (json!([{"name": 1}]), "its arguments.name is not a string"),
            (json!([{"name": "a", "required": "yes"}]), "its arguments.required is not a boolean"),
        ];
        assert_eq!((check_prompt(&prompt), check_prompt(&json!({"name": "p"}))), (Ok(()), Ok(())));
        for (arguments, why) in broken_prompts {
            assert_eq!(check_prompt(&with(prompt.clone(), "arguments", arguments)), Err(why.to_owned()));
        }
        let broken_resources = [
            ("name", json!(1), "its name is not a string"),
            ("mimeType", json!(1), "its mimeType is not a string"),
            ("size", json!("1"), "its size is not a number"),
        ];
        assert_eq!(check_resource(&resource), Ok(()));
        assert_eq!(check_resource(&json!({"uri": "x:1"})), Err("it has no name".to_owned()));
        for (name, value, why) in broken_resources {
            assert_eq!(check_resource(&with(resource.clone(), name, value)), Err(why.to_owned()));
        }
    }
}
