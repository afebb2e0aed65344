// Judges the gateway in front of subgraphs: `node graphql_federation.mjs PACKAGES COUNT SEED` serves the subgraphs over HTTP and prints
// {subgraphs: [{name, url, sdl}]}; the first line of its input is the URL of the gateway's API. It ends with {queries, withErrors, requests,
// differences}. The gateway's own introspection is the schema of the reference.
import { createRequire } from "node:module";
import { createServer, Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { judge } from "../../../data_graph/tests/judge_subgraphs.mjs";
import { subgraphs } from "../../../data_graph/tests/judge_data.mjs";

const [packages, count, seed] = process.argv.slice(2);
const graphql = createRequire(`${packages}/`)("graphql");
const { served, cases, agree } = judge(graphql);
const result = { queries: 0, withErrors: 0, requests: 0, differences: [] };

function listen(answer) {
  const server = createServer((asked, response) => {
    let body = "";
    asked.on("data", (part) => (body += part)).on("end", () => {
      result.requests += 1;
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer(body)));
    });
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(`http://127.0.0.1:${server.address().port}/`)));
}

const urls = await Promise.all(served.map(listen));
process.stdout.write(JSON.stringify({ subgraphs: subgraphs.map(({ name, sdl }, index) => ({ name, sdl, url: urls[index] })) }) + "\n");
const { value: url } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function ask(query, variables) {
  return new Promise((done, failed) => {
    const sent = request(url, { method: "POST", agent, headers: { "content-type": "application/json" } }, (response) => {
      let body = "";
      response.on("data", (part) => (body += part)).on("end", () => done(body));
    });
    sent.on("error", failed).end(JSON.stringify({ query, variables }));
  });
}

const introspected = JSON.parse(await ask(graphql.getIntrospectionQuery()));
if (!introspected.data) throw new Error(JSON.stringify(introspected));
for (const { query, variables, expected } of cases(graphql.buildClientSchema(introspected.data), Number(count), Number(seed))) {
  result.queries += 1;
  result.withErrors += expected.errors ? 1 : 0;
  const body = await ask(query, variables);
  let got;
  try {
    got = JSON.parse(body);
  } catch {
    got = undefined;
  }
  if (!agree(got, expected)) {
    result.differences.push({ query, variables, body, expected });
    if (result.differences.length > 20) break;
  }
}
process.stdout.write(JSON.stringify(result) + "\n");
process.exit(0);
