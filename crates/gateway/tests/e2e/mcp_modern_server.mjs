// A server of the Model Context Protocol on the official SDK, whose requests each stand for themselves (2026-07-28), with all that the conformance suite asks
// of servers. Usage: node mcp_modern_server.mjs PACKAGES PORT
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, port] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(packages, "node_modules", path)));
const sdk = await load("@modelcontextprotocol/server/dist/index.mjs");
const { z } = await load("zod/index.js");

const codec = sdk.createRequestStateCodec({ key: new TextEncoder().encode("thirty-two bytes of a test's key") });
const text = (said) => ({ content: [{ type: "text", text: said }] });
const say = (said) => ({ messages: [{ role: "user", content: { type: "text", text: said } }] });
// A picture and a sound, as small as may be.
const PICTURE = Buffer.from("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;", "latin1").toString("base64");
const SOUND = Buffer.from("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00", "latin1").toString("base64");
const picture = { type: "image", data: PICTURE, mimeType: "image/gif" };
const embedded = (uri) => ({ type: "resource", resource: { uri, mimeType: "text/plain", text: "embedded" } });

const form = (message, member, type = "string") =>
  sdk.inputRequired.elicit({ message, requestedSchema: { type: "object", properties: { [member]: { type } }, required: [member] } });
const sample = (question) => sdk.inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: question } }], maxTokens: 100 });
const given = (ctx, key) => sdk.acceptedContent(ctx.mcpReq.inputResponses, key);
const answer = (ctx, key) => ctx.mcpReq.inputResponses?.[key];
const asking = (inputRequests, requestState) => sdk.inputRequired({ inputRequests, ...(requestState && { requestState }) });

/** Tools that need answers: each returns a result, or what it asks. */
const ASKING = {
  elicitation: (ctx) => {
    const name = given(ctx, "user_name")?.name;
    return name ? text(`Hello, ${name}!`) : asking({ user_name: form("What is your name?", "name") });
  },
  sampling: (ctx) => {
    const said = answer(ctx, "capital_question");
    return said ? text(JSON.stringify(said.content)) : asking({ capital_question: sample("What is the capital of France?") });
  },
  list_roots: (ctx) => {
    const said = answer(ctx, "client_roots");
    return said ? text(said.roots.map((root) => root.uri).join(" ")) : asking({ client_roots: sdk.inputRequired.listRoots() });
  },
  request_state: async (ctx) =>
    given(ctx, "confirm") && ctx.mcpReq.requestState() ? text("state-ok") : asking({ confirm: form("Please confirm", "ok", "boolean") }, await codec.mint({ at: 1 })),
  tampered_state: async (ctx) =>
    given(ctx, "confirm") && ctx.mcpReq.requestState() ? text("state-ok") : asking({ confirm: form("Please confirm", "ok", "boolean") }, await codec.mint({ at: 1 })),
  multiple_inputs: async (ctx) =>
    given(ctx, "user_name") && answer(ctx, "greeting") && answer(ctx, "client_roots")
      ? text("all is known")
      : asking({ user_name: form("What is your name?", "name"), greeting: sample("Generate a greeting"), client_roots: sdk.inputRequired.listRoots() }, await codec.mint({ at: 1 })),
  multi_round: async (ctx) => {
    if (given(ctx, "step2")) return text("both are known");
    if (given(ctx, "step1")) return asking({ step2: form("Step 2: What is your favorite color?", "color") }, await codec.mint({ at: 2 }));
    return asking({ step1: form("Step 1: What is your name?", "name") }, await codec.mint({ at: 1 }));
  },
  capabilities: (ctx) => {
    const can = ctx.mcpReq.envelope?.[sdk.CLIENT_CAPABILITIES_META_KEY] ?? {};
    return asking({ ...(can.sampling && { said: sample("Say something") }), ...(can.elicitation && { name: form("What is your name?", "name") }) });
  },
};

const SIMPLE = {
  test_simple_text: () => text("This is a simple text response for testing."),
  test_image_content: () => ({ content: [picture] }),
  test_audio_content: () => ({ content: [{ type: "audio", data: SOUND, mimeType: "audio/wav" }] }),
  test_embedded_resource: () => ({ content: [embedded("test://embedded-resource")] }),
  test_multiple_content_types: () => ({ content: [...text("several").content, picture, embedded("test://mixed-content-resource")] }),
  test_error_handling: () => { throw new Error("This tool intentionally returns an error for testing"); },
  // Who cannot sample is refused by the SDK.
  test_missing_capability: (ctx) => (answer(ctx, "said") ? text("sampled") : asking({ said: sample("Say something") })),
  test_streaming_elicitation: (ctx) => {
    const name = given(ctx, "name");
    return name ? text("known") : asking({ name: form("Who?", "name") });
  },
  test_logging_tool: async (ctx) => {
    await ctx.mcpReq.log?.("info", "logged");
    return text("logged");
  },
  test_tool_with_progress: async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    }
    return text("done");
  },
};

const handler = sdk.createMcpHandler(() => {
  const server = new sdk.McpServer({ name: "modern", version: "1" }, {
    capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true }, completions: {} },
    requestState: { verify: codec.verify },
  });
  const inputSchema = z.object({});
  for (const [name, run] of Object.entries(SIMPLE)) server.registerTool(name, { description: name, inputSchema }, (_, ctx) => run(ctx));
  for (const [name, run] of Object.entries(ASKING)) {
    server.registerTool(`test_input_required_result_${name}`, { description: name, inputSchema }, (_, ctx) => run(ctx));
  }
  server.registerTool("test_trigger_tool_change", { description: "changes", inputSchema }, () => { handler.notify.toolsChanged(); return text("changed"); });
  server.registerTool("test_trigger_prompt_change", { description: "changes", inputSchema }, () => { handler.notify.promptsChanged(); return text("changed"); });
  const arg = (name) => sdk.completable(z.string(), (begun) => ["paris", "park", "party"].filter((one) => one.startsWith(begun)));
  server.registerPrompt("test_simple_prompt", { description: "simple" }, () => say("This is a simple prompt for testing."));
  server.registerPrompt("test_prompt_with_arguments", { description: "arguments", argsSchema: z.object({ arg1: arg(), arg2: arg() }) },
    ({ arg1, arg2 }) => say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`));
  server.registerPrompt("test_prompt_with_embedded_resource", { description: "resource", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({ messages: [{ role: "user", content: embedded(resourceUri) }] }));
  server.registerPrompt("test_prompt_with_image", { description: "image" }, () => ({ messages: [{ role: "user", content: picture }, ...say("look").messages] }));
  server.registerPrompt("test_input_required_result_prompt", { description: "asks" }, (ctx) => {
    const context = given(ctx, "user_context")?.context;
    return context ? say(context) : asking({ user_context: form("What context should the prompt use?", "context") });
  });
  server.registerResource("text", "test://static-text", { mimeType: "text/plain" }, (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: "static" }] }));
  server.registerResource("binary", "test://static-binary", { mimeType: "image/gif" }, (uri) => ({ contents: [{ uri: uri.href, mimeType: "image/gif", blob: PICTURE }] }));
  server.registerResource("template", new sdk.ResourceTemplate("test://template/{id}/data", { list: undefined }), { mimeType: "application/json" },
    (uri, { id }) => ({ contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify({ id }) }] }));
  return server;
});

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = ["GET", "HEAD"].includes(request.method) ? undefined : Buffer.concat(chunks);
  const left = new AbortController();
  response.on("close", () => left.abort());
  const asked = new Request(`http://${request.headers.host}${request.url}`, { method: request.method, headers: request.headers, body, signal: left.signal });
  const refused = sdk.hostHeaderValidationResponse(asked, sdk.localhostAllowedHostnames()) ?? sdk.originValidationResponse(asked, sdk.localhostAllowedOrigins());
  const answered = refused ?? await handler.fetch(asked);
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  response.flushHeaders();
  try {
    for await (const part of answered.body ?? []) response.write(part);
  } catch { /* The client has left. */ }
  response.end();
}).listen(Number(port), "127.0.0.1");
