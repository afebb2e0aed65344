// Calls models through the gateway with the official clients of OpenAI and Anthropic, the AI SDK and LangChain.
// Usage: node llm_clients.mjs PACKAGES URL KEY
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, url, key] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));

const { default: OpenAI } = await load("openai");
const { default: Anthropic } = await load("@anthropic-ai/sdk");
const { generateText, streamText, tool, jsonSchema, stepCountIs } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const { createAnthropic } = await load("@ai-sdk/anthropic");
const { ChatOpenAI } = await load("@langchain/openai");
const { ChatAnthropic } = await load("@langchain/anthropic");

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: url, authToken: key, apiKey: null, maxRetries: 0 });
const aiOpenai = createOpenAI({ baseURL: `${url}/v1`, apiKey: key });
const aiAnthropic = createAnthropic({ baseURL: `${url}/v1`, authToken: key });
const question = [{ role: "user", content: "Hi" }];
const weather = { type: "object", properties: { location: { type: "string" } }, required: ["location"] };

for (const model of ["gpt-5-chat", "gpt-5-messages", "gpt-5-gemini"]) {
  const answer = await openai.chat.completions.create({ model, messages: question });
  assert.equal(answer.choices[0].message.content, "Hello");
  const stream = openai.chat.completions.stream({ model, messages: question, stream_options: { include_usage: true } });
  assert.equal(await stream.finalContent(), "Hello");
  assert.ok((await stream.totalUsage()).total_tokens > 9);
  assert.equal((await openai.responses.create({ model, input: "Hi" })).output_text, "Hello");
  assert.equal((await openai.responses.stream({ model, input: "Hi" }).finalResponse()).output_text, "Hello");
  const called = await openai.chat.completions.create({
    model, messages: question, tools: [{ type: "function", function: { name: "weather", parameters: weather } }],
  });
  assert.deepEqual(JSON.parse(called.choices[0].message.tool_calls[0].function.arguments), { location: "Bonn" });

  const message = await anthropic.messages.create({ model, max_tokens: 50, messages: question });
  assert.equal(message.content[0].text, "Hello");
  const events = anthropic.messages.stream({ model, max_tokens: 50, messages: question, tools: [{ name: "weather", input_schema: weather }] });
  const used = (await events.finalMessage()).content.find((block) => block.type === "tool_use");
  assert.deepEqual(used.input, { location: "Bonn" });

  for (const named of [aiOpenai.chat(model), aiOpenai.responses(model), aiAnthropic(model)]) {
    const { text, usage } = await generateText({ model: named, prompt: "Hi", maxRetries: 0 });
    assert.equal(text, "Hello");
    assert.ok(usage.totalTokens > 9, JSON.stringify(usage));
    let streamed = "";
    for await (const piece of streamText({ model: named, prompt: "Hi", maxRetries: 0 }).textStream) streamed += piece;
    assert.equal(streamed, "Hello");
    const places = [];
    await generateText({
      model: named, prompt: "Hi", maxRetries: 0, stopWhen: stepCountIs(1),
      tools: { weather: tool({ inputSchema: jsonSchema(weather), execute: async ({ location }) => { places.push(location); return "sunny"; } }) },
    });
    assert.deepEqual(places, ["Bonn"]);
  }

  const chains = [
    new ChatOpenAI({ model, apiKey: key, configuration: { baseURL: `${url}/v1` }, maxRetries: 0 }),
    new ChatOpenAI({ model, apiKey: key, useResponsesApi: true, configuration: { baseURL: `${url}/v1` }, maxRetries: 0 }),
    new ChatAnthropic({ model, anthropicApiKey: "none", anthropicApiUrl: url, maxTokens: 50, maxRetries: 0, clientOptions: { defaultHeaders: { authorization: `Bearer ${key}`, "x-api-key": null } } }),
  ];
  for (const chain of chains) {
    assert.equal((await chain.invoke("Hi")).text, "Hello");
    let streamed = "";
    for await (const piece of await chain.stream("Hi")) streamed += piece.text;
    assert.equal(streamed, "Hello");
    const called = await chain.bindTools([{ type: "function", function: { name: "weather", parameters: weather } }]).invoke("Hi");
    assert.deepEqual(called.tool_calls[0].args, { location: "Bonn" });
  }
}
await assert.rejects(openai.chat.completions.create({ model: "other", messages: question }), OpenAI.NotFoundError);
await assert.rejects(anthropic.messages.create({ model: "other", max_tokens: 9, messages: question }), Anthropic.NotFoundError);
console.log("all is well");
