// An official client of the Model Context Protocol. Usage: node mcp_judges.mjs PACKAGES URL PREFIX
// Does what clients do, answers what servers ask, and prints what it has found, a line for each.
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [packages, url, prefix] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(packages, "node_modules/@modelcontextprotocol/sdk/dist/esm", path)));
const { Client } = await load("client/index.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const schemas = await load("types.js");

const client = new Client({ name: "judge", version: "1" }, { capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} } });
const seen = { logs: 0, updates: 0 };
client.setRequestHandler(schemas.CreateMessageRequestSchema, () => ({ role: "assistant", model: "judge", content: { type: "text", text: "sampled here" } }));
client.setRequestHandler(schemas.ElicitRequestSchema, () => ({ action: "decline" }));
client.setRequestHandler(schemas.ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///judged", name: "judged" }] }));
client.setNotificationHandler(schemas.LoggingMessageNotificationSchema, () => { seen.logs += 1; });
client.setNotificationHandler(schemas.ResourceUpdatedNotificationSchema, () => { seen.updates += 1; });
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const say = (name, value) => console.log(JSON.stringify({ name, value }));
const text = (result) => result.content?.[0]?.text;

const tools = (await client.listTools()).tools.map((tool) => tool.name);
say("tools", tools.filter((name) => name.startsWith(prefix)).length);
say("echo", text(await client.callTool({ name: `${prefix}echo`, arguments: { message: "hello" } })));
say("sum", text(await client.callTool({ name: `${prefix}get-sum`, arguments: { a: 2, b: 3 } })));
say("structured", Object.keys((await client.callTool({ name: `${prefix}get-structured-content`, arguments: { location: "Chicago" } })).structuredContent ?? {}));
let progress = 0;
const long = { name: `${prefix}trigger-long-running-operation`, arguments: { duration: 1, steps: 4 } };
say("long", text(await client.callTool(long, undefined, { onprogress: () => { progress += 1; } })));
say("progress", progress);
if (tools.includes(`${prefix}trigger-sampling-request`)) {
  const sampled = await client.callTool({ name: `${prefix}trigger-sampling-request`, arguments: { prompt: "x", maxTokens: 10 } });
  say("sampled", JSON.stringify(sampled.content).includes("sampled here"));
}
if (tools.includes(`${prefix}trigger-elicitation-request`)) {
  const asked = await client.callTool({ name: `${prefix}trigger-elicitation-request`, arguments: {} });
  say("elicited", JSON.stringify(asked.content).includes("decline"));
}
if (tools.includes(`${prefix}get-roots-list`)) {
  const roots = await client.callTool({ name: `${prefix}get-roots-list`, arguments: {} });
  say("roots", JSON.stringify(roots.content).includes("file:///judged"));
}
if (client.getServerCapabilities()?.tasks?.requests?.tools?.call) {
  // It asks for what is unclear while somebody waits for the task's result.
  const research = { name: `${prefix}simulate-research-query`, arguments: { topic: "x", ambiguous: true } };
  const seen = new Set();
  let found;
  for await (const message of client.experimental.tasks.callToolStream(research, schemas.CallToolResultSchema, { task: { ttl: 60000 } })) {
    seen.add(message.type);
    found = message.type === "result" ? text(message.result) : message.error?.message;
  }
  say("task", { seen: [...seen], found });
  const cancelled = client.experimental.tasks.callToolStream(research, schemas.CallToolResultSchema, { task: { ttl: 60000 } });
  const { taskId } = (await cancelled.next()).value.task;
  say("task cancelled", (await client.experimental.tasks.cancelTask(taskId)).status);
  say("task afterwards", (await client.experimental.tasks.getTask(taskId)).taskId === taskId);
}
const resources = (await client.listResources()).resources;
say("resource", (await client.readResource({ uri: resources[0].uri })).contents[0].uri === resources[0].uri);
say("template", (await client.readResource({ uri: "demo://resource/dynamic/text/1" })).contents.length);
say("prompt", (await client.getPrompt({ name: `${prefix}args-prompt`, arguments: { city: "Bonn" } })).messages[0].content.text);
const completion = { ref: { type: "ref/prompt", name: `${prefix}completable-prompt` }, argument: { name: "department", value: "E" } };
say("completion", (await client.complete(completion)).completion.values);
await client.setLoggingLevel("debug");
say("ping", await client.ping());
const refused = async (work) => { try { await work(); return "no error"; } catch (error) { return error.code; } };
say("unknown tool", await refused(() => client.callTool({ name: "nothing", arguments: {} })));
say("unknown prompt", await refused(() => client.getPrompt({ name: "nothing" })));
await transport.terminateSession();
await client.close();
