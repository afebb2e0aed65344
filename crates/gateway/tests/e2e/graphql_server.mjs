// GraphQL programs that are not ours: `node graphql_server.mjs DIRECTORY MODE ARGUMENTS`.
//   serve SCHEMA        graphql-http on a free port; prints the port, then serves until it is ended.
//   sockets SCHEMA      subscriptions on graphql-ws and subscriptions-transport-ws; prints the port, then how many `ticks` are open.
//   audit URL           the audits of graphql-http, one JSON line each: {id, name, status, reason}.
//   judge SCHEMA URL N  N generated documents: graphql-js says which are valid, the gateway at URL is asked; prints one JSON line each for those
//                       about which they differ, then {documents, valid}.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createServer, Agent, request } from "node:http";
import { generate } from "./graphql_documents.mjs";

const [directory, mode, ...rest] = process.argv.slice(2);
const load = createRequire(`${directory}/`);
const graphql = load("graphql");
const say = (value) => process.stdout.write(JSON.stringify(value) + "\n");

if (mode === "serve") {
  const { createHandler } = load("graphql-http/lib/use/http");
  const schema = graphql.buildSchema(readFileSync(rest[0], "utf8"));
  const user = { id: "1", name: "Ann", email: "a@example.org", friends: [], pet: { __typename: "Pet", id: "2", name: "Rex" } };
  const rootValue = { me: user, user: ({ id }) => ({ ...user, id }), list: [user], rename: ({ id, name }) => ({ ...user, id, name }) };
  const server = createServer(createHandler({ schema, rootValue }));
  server.listen(0, "127.0.0.1", () => say({ port: server.address().port }));
} else if (mode === "sockets") {
  const { WebSocketServer } = load("ws");
  const { useServer } = load("graphql-ws/use/ws");
  const { SubscriptionServer } = load("subscriptions-transport-ws");
  const schema = graphql.buildSchema(readFileSync(rest[0], "utf8"));
  const user = { id: "1", name: "Ann", email: "a@example.org" };
  let open = 0;
  const counted = (change) => say({ ticks: (open += change) });
  const root = {
    me: user,
    user: async function* () { yield { user }; },
    count: async function* ({ to }) { for (let count = 0; count < to; count++) yield { count }; },
    ticks: async function* () {
      counted(1);
      try {
        for (let ticks = 0; ; ticks++) {
          yield { ticks };
          await new Promise((done) => setTimeout(done, 50));
        }
      } finally {
        counted(-1);
      }
    },
  };
  const present = new WebSocketServer({ noServer: true });
  useServer({ schema, roots: { query: root, subscription: root } }, present);
  const before = new WebSocketServer({ noServer: true, handleProtocols: (offers) => offers.has("graphql-ws") && "graphql-ws" });
  // The library is older than the calls with one argument.
  const called = (call) => (first, document, rootValue, contextValue, variableValues, operationName) =>
    call(document ? { schema: first, document, rootValue, contextValue, variableValues, operationName } : first);
  const [execute, subscribe] = [called(graphql.execute), called(graphql.subscribe)];
  SubscriptionServer.create({ schema, execute, subscribe, rootValue: root }, before);
  const server = createServer((_, response) => response.writeHead(426).end());
  server.on("upgrade", (asked, socket, head) => {
    // Compressed messages could not be checked.
    if (asked.headers["sec-websocket-extensions"]) return socket.destroy();
    const offers = asked.headers["sec-websocket-protocol"].split(", ");
    const sockets = offers.includes("graphql-transport-ws") ? present : before;
    sockets.handleUpgrade(asked, socket, head, (client) => sockets.emit("connection", client, asked));
  });
  server.listen(0, "127.0.0.1", () => say({ port: server.address().port }));
} else if (mode === "audit") {
  const { auditServer } = load("graphql-http");
  for (const result of await auditServer({ url: rest[0] })) {
    say({ id: result.id, name: result.name, status: result.status, reason: result.reason ?? "" });
  }
} else if (mode === "judge") {
  const schema = graphql.buildSchema(readFileSync(rest[0], "utf8"));
  const documents = [...generate(graphql, schema, Number(rest[2]))];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let valid = 0;
  for (const text of documents) {
    const errors = judged(schema, text);
    valid += errors.length ? 0 : 1;
    const { status, body } = await ask(agent, rest[1], text);
    if ((status === 200) !== (errors.length === 0)) say({ text, status, body, errors });
  }
  say({ documents: documents.length, valid });
  agent.destroy();
}

function judged(schema, text) {
  let document;
  try {
    document = graphql.parse(text, { maxTokens: 10_000 });
  } catch (error) {
    return [error.message];
  }
  const errors = graphql.validate(schema, document).map((error) => error.message);
  const operations = document.definitions.filter((definition) => definition.kind === "OperationDefinition");
  return operations.length === 1 ? errors : [...errors, "not one operation"];
}

function ask(agent, url, query) {
  return new Promise((done, failed) => {
    const sent = request(url, { method: "POST", agent, headers: { "content-type": "application/json" } }, (response) => {
      let body = "";
      response.on("data", (part) => (body += part)).on("end", () => done({ status: response.statusCode, body: body.slice(0, 300) }));
    });
    sent.on("error", failed).end(JSON.stringify({ query }));
  });
}
