//! A request for a provider that speaks Chat Completions.

use crate::conversation::data_url;
use crate::form::{Ask, Effort, Media, Part, Reasoning, ResponseFormat, Role, Tool, ToolChoice, Unsupported};
use crate::json::{ArrayOut, ObjectOut, object};
use crate::tool_id::IdRule;

/// What differs between providers of this API.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChatDialect {
    /// The member that bounds an answer: newer models of OpenAI refuse the old one, others know it alone.
    pub(crate) limit_member: &'static str,
    /// Whether it knows `top_k`, which OpenAI does not.
    pub(crate) has_top_k: bool,
    /// What it accepts as the id of a call.
    pub(crate) ids: IdRule,
    /// Whether usage in a stream must be asked for.
    pub(crate) asks_usage: bool,
}

/// Writes the body.
pub(crate) fn write_request(ask: &Ask, dialect: ChatDialect) -> Result<Vec<u8>, Unsupported> {
    let mut body = Vec::new();
    object(&mut body, |out| write_body(out, ask, dialect))?;
    Ok(body)
}

fn write_body(out: &mut ObjectOut, ask: &Ask, dialect: ChatDialect) -> Result<(), Unsupported> {
    if ask.top_k.is_some() && !dialect.has_top_k {
        return Err(Unsupported::new("top_k", "the provider of this model has no counterpart"));
    }
    out.text("model", &ask.model);
    out.array("messages", |messages| write_messages(messages, ask, dialect.ids))?;
    if !ask.tools.is_empty() {
        out.array("tools", |tools| ask.tools.iter().for_each(|tool| write_tool(tools, tool)));
    }
    match &ask.tool_choice {
        None => {}
        Some(ToolChoice::Auto) => out.text("tool_choice", "auto"),
        Some(ToolChoice::None) => out.text("tool_choice", "none"),
        Some(ToolChoice::Required) => out.text("tool_choice", "required"),
        Some(ToolChoice::Named(name)) => out.object("tool_choice", |choice| {
            choice.text("type", "function");
            choice.object("function", |function| function.text("name", name));
        }),
    }
    if let Some(flag) = ask.parallel_tool_calls.filter(|_| !ask.tools.is_empty()) {
        out.flag("parallel_tool_calls", flag);
    }
    out.whole_if(dialect.limit_member, ask.output_tokens_max);
    out.number_if("temperature", ask.temperature);
    out.number_if("top_p", ask.top_p);
    out.whole_if("top_k", ask.top_k);
    if !ask.stop.is_empty() {
        out.array("stop", |stop| ask.stop.iter().for_each(|text| stop.text(text)));
    }
    out.integer_if("seed", ask.seed);
    out.number_if("frequency_penalty", ask.frequency_penalty);
    out.number_if("presence_penalty", ask.presence_penalty);
    write_format(out, &ask.response_format);
    match ask.reasoning {
        None | Some(Reasoning::Adaptive) => {}
        Some(Reasoning::Off) => out.text("reasoning_effort", "none"),
        Some(reasoning) => out.text_if("reasoning_effort", reasoning.effort().map(Effort::name)),
    }
    if ask.stream {
        out.flag("stream", true);
        if dialect.asks_usage {
            out.object("stream_options", |options| options.flag("include_usage", true));
        }
    }
    out.text_if("user", ask.user.as_deref());
    Ok(())
}

fn write_format(out: &mut ObjectOut, format: &ResponseFormat) {
    match format {
        ResponseFormat::Text => {}
        ResponseFormat::Json => out.object("response_format", |out| out.text("type", "json_object")),
        ResponseFormat::Schema { name, description, schema, strict } => out.object("response_format", |out| {
            out.text("type", "json_schema");
            out.object("json_schema", |out| {
                out.text("name", name);
                out.text_if("description", description.as_deref());
                out.raw("schema", schema);
                if let Some(strict) = strict {
                    out.flag("strict", *strict);
                }
            });
        }),
    }
}

fn write_tool(tools: &mut ArrayOut, tool: &Tool) {
    tools.object(|out| {
        out.text("type", "function");
        out.object("function", |function| {
            function.text("name", &tool.name);
            function.text_if("description", tool.description.as_deref());
            function.raw("parameters", &tool.schema);
            if let Some(strict) = tool.strict {
                function.flag("strict", strict);
            }
        });
    });
}

fn write_messages(messages: &mut ArrayOut, ask: &Ask, ids: IdRule) -> Result<(), Unsupported> {
    for text in &ask.system {
        messages.object(|message| {
            message.text("role", "system");
            message.text("content", text);
        });
    }
    for message in &ask.messages {
        match message.role {
            Role::User => write_user(messages, &message.parts, ids)?,
            Role::Assistant => write_assistant(messages, &message.parts, ids)?,
        }
    }
    Ok(())
}

/// Results of tools are messages of their own and have only text, so their pictures follow as the user's.
fn write_user(messages: &mut ArrayOut, parts: &[Part], ids: IdRule) -> Result<(), Unsupported> {
    let mut shown = Vec::new();
    for part in parts {
        let Part::ToolResult(result) = part else {
            shown.push(part);
            continue;
        };
        let mut text = String::new();
        if result.is_error {
            text.push_str("Error: ");
        }
        for part in &result.parts {
            match part {
                Part::Text(more) => text.push_str(more),
                Part::Image(_) | Part::Document(..) => shown.push(part),
                _ => {}
            }
        }
        messages.object(|message| {
            message.text("role", "tool");
            message.text("tool_call_id", &ids.fit(&result.id));
            message.text("content", &text);
        });
    }
    match shown.as_slice() {
        [] => Ok(()),
        [Part::Text(text)] => {
            messages.object(|message| {
                message.text("role", "user");
                message.text("content", text);
            });
            Ok(())
        }
        shown => messages.object(|message| {
            message.text("role", "user");
            message.array("content", |content| shown.iter().try_for_each(|part| write_part(content, part)))
        }),
    }
}

fn write_part(content: &mut ArrayOut, part: &Part) -> Result<(), Unsupported> {
    match part {
        Part::Text(text) | Part::Document(Media::Text(text), _) => content.object(|out| {
            out.text("type", "text");
            out.text("text", text);
        }),
        Part::Image(media) => {
            let url = match media {
                Media::Url(url) => url.clone(),
                Media::Base64 { media_type, data } => data_url(media_type, data),
                Media::Text(_) => return Err(Unsupported::new("messages", "an image cannot be text")),
            };
            content.object(|out| {
                out.text("type", "image_url");
                out.object("image_url", |image| image.text("url", &url));
            });
        }
        Part::Document(Media::Base64 { media_type, data }, name) => content.object(|out| {
            out.text("type", "file");
            out.object("file", |file| {
                file.text("filename", name.as_deref().unwrap_or("document.pdf"));
                file.text("file_data", &data_url(media_type, data));
            });
        }),
        Part::Document(Media::Url(_), _) => {
            return Err(Unsupported::new("messages", "documents by URL have no counterpart at the provider of this model"));
        }
        Part::ToolCall(_) | Part::ToolResult(_) | Part::Reasoning(_) | Part::Citation(_) => {}
    }
    Ok(())
}

/// Thoughts are not sent: providers of this API want none, or refuse those that they did not have.
fn write_assistant(messages: &mut ArrayOut, parts: &[Part], ids: IdRule) -> Result<(), Unsupported> {
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::ToolCall(call) => calls.push(call),
            Part::Reasoning(_) | Part::Citation(_) => {}
            Part::Image(_) | Part::Document(..) | Part::ToolResult(_) => {
                return Err(Unsupported::new("messages", "this kind of content cannot be an assistant's"));
            }
        }
    }
    if text.is_empty() && calls.is_empty() {
        return Ok(());
    }
    messages.object(|message| {
        message.text("role", "assistant");
        if text.is_empty() {
            message.null("content");
        } else {
            message.text("content", &text);
        }
        if !calls.is_empty() {
            message.array("tool_calls", |out| {
                for call in calls {
                    out.object(|out| {
                        out.text("id", &ids.fit(&call.id));
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
    Ok(())
}
