// Judges plans and executions: `node judge.mjs PACKAGES COUNT SEED` serves subgraphs and asks its parent (stdin and stdout, see
// judge/conversation.rs) for the responses to generated queries. The same data behind one schema is the reference: graphql-js answers both.
// The end is {result: {queries, withErrors, requests, differences}}.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { judge } from "./judge_subgraphs.mjs";
import { subgraphs } from "./judge_data.mjs";

const [packages, count, seed] = process.argv.slice(2);
const graphql = createRequire(`${packages}/`)("graphql");
const { served, cases, agree } = judge(graphql);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function ask(value) {
  process.stdout.write(JSON.stringify(value) + "\n");
  return JSON.parse((await lines.next()).value);
}

const { schema: text, fault } = await ask({ subgraphs });
if (fault) throw new Error(fault);
const result = { queries: 0, withErrors: 0, requests: 0, differences: [] };
for (const { query, variables, expected } of cases(graphql.buildSchema(text), Number(count), Number(seed))) {
  result.queries += 1;
  result.withErrors += expected.errors ? 1 : 0;
  const log = [];
  let said = await ask({ query, variables });
  while (said.requests) {
    result.requests += said.requests.length;
    const answers = said.requests.map(({ id, source, body }) => {
      const answer = JSON.stringify(served[source](body));
      log.push(`${subgraphs[source].name} ${body}`, `  ${answer}`);
      return { id, status: 200, body: answer };
    });
    said = await ask({ answers });
  }
  if (!agree(said.response, expected)) {
    result.differences.push({ query, variables, fault: said.fault, got: said.response, expected, log });
    if (result.differences.length > 20) break;
  }
}
process.stdout.write(JSON.stringify({ result }) + "\n");
process.exit(0);
