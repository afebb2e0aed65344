//! A request for Cohere.

use crate::conversation::data_url;
use crate::form::{Ask, Media, Part, Reasoning, ResponseFormat, Role, ToolChoice, Unsupported};
use crate::json::{ArrayOut, ObjectOut, object};

/// Writes the body.
pub(crate) fn write_request(ask: &Ask) -> Result<Vec<u8>, Unsupported> {
    let mut body = Vec::new();
    object(&mut body, |out| write_body(out, ask))?;
    Ok(body)
}

fn write_body(out: &mut ObjectOut, ask: &Ask) -> Result<(), Unsupported> {
    if ask.parallel_tool_calls == Some(false) && !ask.tools.is_empty() {
        return Err(Unsupported::new("parallel_tool_calls", "Cohere may always call several tools at once"));
    }
    out.text("model", &ask.model);
    out.flag("stream", ask.stream);
    out.array("messages", |messages| write_messages(messages, ask))?;
    if !ask.tools.is_empty() {
        out.array("tools", |tools| {
            for tool in &ask.tools {
                tools.object(|out| {
                    out.text("type", "function");
                    out.object("function", |function| {
                        function.text("name", &tool.name);
                        function.text_if("description", tool.description.as_deref());
                        function.raw("parameters", &tool.schema);
                    });
                });
            }
        });
        if ask.tools.iter().any(|tool| tool.strict == Some(true)) {
            out.flag("strict_tools", true);
        }
        match &ask.tool_choice {
            None | Some(ToolChoice::Auto) => {}
            Some(ToolChoice::None) => out.text("tool_choice", "NONE"),
            Some(ToolChoice::Required) => out.text("tool_choice", "REQUIRED"),
            Some(ToolChoice::Named(_)) => return Err(Unsupported::new("tool_choice", "Cohere cannot be told which tool to call")),
        }
    }
    // What tools said would be cited by the number of the call, for which clients' APIs have no counterpart.
    if ask.messages.iter().flat_map(|message| &message.parts).any(|part| matches!(part, Part::ToolResult(_))) {
        out.object("citation_options", |options| options.text("mode", "OFF"));
    }
    out.whole_if("max_tokens", ask.output_tokens_max);
    out.number_if("temperature", ask.temperature);
    out.number_if("p", ask.top_p);
    out.whole_if("k", ask.top_k);
    if !ask.stop.is_empty() {
        out.array("stop_sequences", |stop| ask.stop.iter().for_each(|text| stop.text(text)));
    }
    out.integer_if("seed", ask.seed);
    out.number_if("frequency_penalty", ask.frequency_penalty);
    out.number_if("presence_penalty", ask.presence_penalty);
    match &ask.response_format {
        ResponseFormat::Text => {}
        ResponseFormat::Json => out.object("response_format", |out| out.text("type", "json_object")),
        ResponseFormat::Schema { schema, .. } => out.object("response_format", |out| {
            out.text("type", "json_object");
            out.raw("json_schema", schema);
        }),
    }
    let Some(reasoning) = ask.reasoning else { return Ok(()) };
    out.object("thinking", |out| {
        out.text("type", if reasoning == Reasoning::Off { "disabled" } else { "enabled" });
        match reasoning {
            Reasoning::Budget(tokens) => out.whole("token_budget", tokens),
            Reasoning::Effort(effort) => out.whole("token_budget", effort.budget()),
            Reasoning::Off | Reasoning::Adaptive => {}
        }
    });
    Ok(())
}

fn write_messages(messages: &mut ArrayOut, ask: &Ask) -> Result<(), Unsupported> {
    for text in &ask.system {
        messages.object(|message| {
            message.text("role", "system");
            message.text("content", text);
        });
    }
    ask.messages.iter().try_for_each(|message| match message.role {
        Role::User => write_user(messages, &message.parts),
        Role::Assistant => {
            write_assistant(messages, &message.parts);
            Ok(())
        }
    })
}

fn write_user(messages: &mut ArrayOut, parts: &[Part]) -> Result<(), Unsupported> {
    let (results, shown): (Vec<_>, Vec<_>) = parts.iter().partition(|part| matches!(part, Part::ToolResult(_)));
    for part in results {
        let Part::ToolResult(result) = part else { continue };
        let mut text = if result.is_error { "Error: ".to_owned() } else { String::new() };
        for part in &result.parts {
            match part {
                Part::Text(more) => text.push_str(more),
                _ => return Err(Unsupported::new("messages", "Cohere takes results of tools as text alone")),
            }
        }
        messages.object(|message| {
            message.text("role", "tool");
            message.text("tool_call_id", &result.id);
            message.text("content", &text);
        });
    }
    if shown.is_empty() {
        return Ok(());
    }
    messages.object(|message| {
        message.text("role", "user");
        message.array("content", |content| shown.iter().try_for_each(|part| write_part(content, part)))
    })
}

fn write_part(content: &mut ArrayOut, part: &Part) -> Result<(), Unsupported> {
    let url = match part {
        Part::Text(text) | Part::Document(Media::Text(text), _) => {
            content.object(|out| {
                out.text("type", "text");
                out.text("text", text);
            });
            return Ok(());
        }
        Part::Image(Media::Url(url)) => url.clone(),
        Part::Image(Media::Base64 { media_type, data }) => data_url(media_type, data),
        _ => return Err(Unsupported::new("messages", "Cohere takes texts and images")),
    };
    content.object(|out| {
        out.text("type", "image_url");
        out.object("image_url", |image| image.text("url", &url));
    });
    Ok(())
}

/// Thoughts are not sent: no other provider has Cohere's.
fn write_assistant(messages: &mut ArrayOut, parts: &[Part]) {
    let text: String =
        parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None }).collect();
    let calls: Vec<_> = parts.iter().filter_map(|part| if let Part::ToolCall(call) = part { Some(call) } else { None }).collect();
    if text.is_empty() && calls.is_empty() {
        return;
    }
    messages.object(|message| {
        message.text("role", "assistant");
        if !text.is_empty() {
            message.text("content", &text);
        }
        if !calls.is_empty() {
            message.array("tool_calls", |out| {
                for call in calls {
                    out.object(|out| {
                        out.text("id", &call.id);
                        out.text("type", "function");
                        out.object("function", |function| {
                            function.text("name", &call.name);
                            function.text("arguments", &call.arguments);
                        });
                    });
                }
            });
        }
    });
}
