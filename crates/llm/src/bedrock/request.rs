//! A request for Bedrock.

use crate::form::{Ask, Effort, Media, Message, Part, Reasoning, ResponseFormat, Role, ToolChoice, ToolResult, Unsupported};
use crate::generation::thinks_by_budget;
use crate::json::{ArrayOut, ObjectOut, object};
use crate::tool_id::IdRule;

/// Writes the body. The model is in the path.
pub(crate) fn write_request(ask: &Ask) -> Result<Vec<u8>, Unsupported> {
    let mut body = Vec::new();
    object(&mut body, |out| write_body(out, ask))?;
    Ok(body)
}

fn write_body(out: &mut ObjectOut, ask: &Ask) -> Result<(), Unsupported> {
    refuse_without_counterpart(ask)?;
    out.array("messages", |messages| ask.messages.iter().try_for_each(|message| write_message(messages, message)))?;
    if !ask.system.is_empty() {
        out.array("system", |system| ask.system.iter().for_each(|text| system.object(|block| block.text("text", text))));
    }
    out.object("inferenceConfig", |out| {
        out.whole_if("maxTokens", ask.output_tokens_max);
        out.number_if("temperature", ask.temperature);
        out.number_if("topP", ask.top_p);
        if !ask.stop.is_empty() {
            out.array("stopSequences", |stop| ask.stop.iter().for_each(|text| stop.text(text)));
        }
    });
    if !ask.tools.is_empty() && ask.tool_choice != Some(ToolChoice::None) {
        write_tools(out, ask);
    }
    let by_budget = thinks_by_budget(&ask.model);
    write_output(out, ask, ask.reasoning.and_then(Reasoning::effort).filter(|_| !by_budget));
    let reasoning = ask.reasoning.filter(|reasoning| *reasoning != Reasoning::Off);
    if reasoning.is_some() || ask.top_k.is_some() {
        out.object("additionalModelRequestFields", |out| {
            out.whole_if("top_k", ask.top_k);
            let Some(reasoning) = reasoning else { return };
            out.object("thinking", |thinking| match reasoning {
                _ if !by_budget => thinking.text("type", "adaptive"),
                Reasoning::Budget(tokens) => write_budget(thinking, tokens),
                reasoning => write_budget(thinking, reasoning.effort().unwrap_or(Effort::Medium).budget()),
            });
        });
    }
    Ok(())
}

fn write_budget(thinking: &mut ObjectOut, tokens: u64) {
    thinking.text("type", "enabled");
    thinking.whole("budget_tokens", tokens);
}

fn write_output(out: &mut ObjectOut, ask: &Ask, effort: Option<Effort>) {
    let format = match &ask.response_format {
        ResponseFormat::Schema { name, description, schema, .. } => Some((name, description, schema)),
        ResponseFormat::Text | ResponseFormat::Json => None,
    };
    if format.is_none() && effort.is_none() {
        return;
    }
    out.object("outputConfig", |out| {
        out.text_if("effort", effort.map(|effort| effort.max(Effort::Low).name()));
        let Some((name, description, schema)) = format else { return };
        out.object("textFormat", |out| {
            out.text("type", "json_schema");
            out.object("structure", |out| {
                out.object("jsonSchema", |out| {
                    out.text("schema", schema);
                    out.text("name", name);
                    out.text_if("description", description.as_deref());
                });
            });
        });
    });
}

fn refuse_without_counterpart(ask: &Ask) -> Result<(), Unsupported> {
    let is_claude = ask.model.contains("anthropic.");
    let reasons = !matches!(ask.reasoning, None | Some(Reasoning::Off));
    let has_calls =
        ask.messages.iter().flat_map(|message| &message.parts).any(|part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_)));
    let refused = [
        ("seed", ask.seed.is_some()),
        ("frequency_penalty", ask.frequency_penalty.is_some_and(|value| value != 0.0)),
        ("presence_penalty", ask.presence_penalty.is_some_and(|value| value != 0.0)),
        ("parallel_tool_calls", ask.parallel_tool_calls == Some(false) && !ask.tools.is_empty()),
        ("response_format", ask.response_format == ResponseFormat::Json),
        ("top_k", ask.top_k.is_some() && !is_claude),
        ("reasoning", reasons && !is_claude),
        ("tool_choice", ask.tool_choice == Some(ToolChoice::None) && has_calls),
    ];
    match refused.iter().find(|(_, is_refused)| *is_refused) {
        Some((field, _)) => Err(Unsupported::new(*field, "Bedrock has no counterpart for this model")),
        None => Ok(()),
    }
}

fn write_tools(out: &mut ObjectOut, ask: &Ask) {
    out.object("toolConfig", |out| {
        out.array("tools", |tools| {
            for tool in &ask.tools {
                tools.object(|out| {
                    out.object("toolSpec", |out| {
                        out.text("name", &tool.name);
                        out.text_if("description", tool.description.as_deref().filter(|text| !text.is_empty()));
                        out.object("inputSchema", |out| out.raw("json", &tool.schema));
                        if tool.strict == Some(true) {
                            out.flag("strict", true);
                        }
                    });
                });
            }
        });
        match &ask.tool_choice {
            None | Some(ToolChoice::None) => {}
            Some(ToolChoice::Auto) => out.object("toolChoice", |out| out.object("auto", |_| {})),
            Some(ToolChoice::Required) => out.object("toolChoice", |out| out.object("any", |_| {})),
            Some(ToolChoice::Named(name)) => out.object("toolChoice", |out| out.object("tool", |out| out.text("name", name))),
        }
    });
}

fn write_message(messages: &mut ArrayOut, message: &Message) -> Result<(), Unsupported> {
    if message.parts.iter().all(|part| matches!(part, Part::Reasoning(part) if part.redacted.is_none() && part.signature.is_none()))
    {
        return Ok(());
    }
    messages.object(|out| {
        out.text("role", if message.role == Role::User { "user" } else { "assistant" });
        out.array("content", |content| {
            message.parts.iter().enumerate().try_for_each(|(at, part)| match part {
                Part::ToolResult(result) => write_result(content, result),
                part => write_part(content, part, at),
            })
        })
    })
}

fn write_result(content: &mut ArrayOut, result: &ToolResult) -> Result<(), Unsupported> {
    content.object(|out| {
        out.object("toolResult", |out| {
            out.text("toolUseId", &IdRule::Plain.fit(&result.id));
            out.array("content", |inner| result.parts.iter().enumerate().try_for_each(|(at, part)| write_part(inner, part, at)))?;
            out.text("status", if result.is_error { "error" } else { "success" });
            Ok(())
        })
    })
}

fn write_part(content: &mut ArrayOut, part: &Part, at: usize) -> Result<(), Unsupported> {
    let no_url = || Unsupported::new("messages", "Bedrock takes images and documents as bytes alone, not by URL");
    match part {
        Part::Text(text) => content.object(|out| out.text("text", text)),
        Part::Image(Media::Base64 { media_type, data }) => {
            let format = media_type.strip_prefix("image/").unwrap_or_default();
            if !matches!(format, "png" | "jpeg" | "gif" | "webp") {
                return Err(Unsupported::new("messages", "Bedrock takes images as PNG, JPEG, GIF and WebP"));
            }
            content.object(|out| {
                out.object("image", |out| {
                    out.text("format", format);
                    out.object("source", |source| source.text("bytes", data));
                });
            });
        }
        Part::Document(media @ (Media::Base64 { .. } | Media::Text(_)), name) => {
            let format = document_format(media)
                .ok_or_else(|| Unsupported::new("messages", "Bedrock does not take documents of this type"))?;
            content.object(|out| {
                out.object("document", |out| {
                    out.text("format", format);
                    out.text("name", &document_name(name.as_deref(), at));
                    out.object("source", |source| match media {
                        Media::Base64 { data, .. } => source.text("bytes", data),
                        Media::Text(text) | Media::Url(text) => source.text("text", text),
                    });
                });
            });
        }
        Part::Image(_) | Part::Document(..) => return Err(no_url()),
        Part::ToolCall(call) => content.object(|out| {
            out.object("toolUse", |out| {
                out.text("toolUseId", &IdRule::Plain.fit(&call.id));
                out.text("name", &call.name);
                out.raw("input", &call.arguments);
            });
        }),
        Part::ToolResult(_) | Part::Citation(_) => {}
        Part::Reasoning(part) => match (&part.redacted, &part.signature) {
            (Some(data), _) => content.object(|out| out.object("reasoningContent", |out| out.text("redactedContent", data))),
            (None, Some(signature)) => content.object(|out| {
                out.object("reasoningContent", |out| {
                    out.object("reasoningText", |out| {
                        out.text("text", &part.text);
                        out.text("signature", signature);
                    });
                });
            }),
            (None, None) => {}
        },
    }
    Ok(())
}

fn document_format(media: &Media) -> Option<&'static str> {
    let Media::Base64 { media_type, .. } = media else { return Some("txt") };
    Some(match media_type.as_str() {
        "application/pdf" => "pdf",
        "text/csv" => "csv",
        "text/html" => "html",
        "text/plain" => "txt",
        "text/markdown" => "md",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.ms-excel" => "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        _ => return None,
    })
}

/// Names may have letters, digits, hyphens and single spaces, and must differ within a message.
fn document_name(name: Option<&str>, at: usize) -> String {
    let clean: String = name
        .unwrap_or("document")
        .chars()
        .take(150)
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .collect();
    format!("{clean}-{at}")
}
