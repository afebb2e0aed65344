// Calls models through the gateway with Google's official client.
// Usage: node llm_google_clients.mjs PACKAGES URL KEY POOR-KEY
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, url, key, poor] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const { GoogleGenAI, Type } = await import(pathToFileURL(require.resolve("@google/genai")));

const clientWith = (apiKey) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
const client = clientWith(key);
const parameters = { type: Type.OBJECT, properties: { place: { type: Type.STRING } }, required: ["place"] };
const weather = { name: "weather", description: "The weather", parameters };

for (const model of ["a", "team/b", "c"]) {
  const config = { systemInstruction: "Be short.", temperature: 0.5, maxOutputTokens: 100 };
  const answer = await client.models.generateContent({ model, contents: "Hi", config });
  assert.equal(answer.text, "You said: Hi");
  assert.equal(answer.usageMetadata.totalTokenCount, 10);
  let streamed = "", last;
  for await (last of await client.models.generateContentStream({ model, contents: "Hi", config })) streamed += last.text ?? "";
  assert.equal(streamed, "You said: Hi");
  assert.equal(last.candidates[0].finishReason, "STOP");
  assert.equal(last.usageMetadata.totalTokenCount, 10);

  const json = { responseMimeType: "application/json", responseSchema: parameters };
  assert.deepEqual(JSON.parse((await client.models.generateContent({ model, contents: "Hi", config: json })).text), { place: "Bonn" });

  const tools = { tools: [{ functionDeclarations: [weather] }] };
  const called = await client.models.generateContent({ model, contents: "Weather?", config: tools });
  assert.deepEqual(called.functionCalls.map(({ name, args }) => [name, args]), [["weather", { place: "Bonn" }]]);
  const contents = [
    { role: "user", parts: [{ text: "Weather?" }] },
    called.candidates[0].content,
    { role: "user", parts: [{ functionResponse: { name: "weather", response: { output: "sunny" } } }] },
  ];
  assert.match((await client.models.generateContent({ model, contents, config: tools })).text, /^You said/);

  const chat = client.chats.create({ model });
  for (const message of ["Hi", "More"]) {
    streamed = "";
    for await (const piece of await chat.sendMessageStream({ message })) streamed += piece.text ?? "";
    assert.equal(streamed, `You said: ${message}`);
  }
  await assert.rejects(clientWith(poor).models.generateContent({ model, contents: "Hi" }), /RESOURCE_EXHAUSTED/);
}
for (const model of ["a", "c"]) {
  const { embeddings } = await client.models.embedContent({ model, contents: ["one", "two"], config: { outputDimensionality: 2 } });
  assert.deepEqual(embeddings.map(({ values }) => values), [[0.5, 0], [0.5, 1]]);
}
await assert.rejects(client.models.generateContent({ model: "other", contents: "Hi" }), /there are: a, c, team\/b/);
const names = [];
for await (const model of await client.models.list()) names.push(model.name);
assert.deepEqual(names, ["models/a", "models/c", "models/team/b"]);
console.log("all is well");
