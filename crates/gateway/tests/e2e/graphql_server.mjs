// GraphQL programs that are not ours: `node graphql_server.mjs DIRECTORY MODE ARGUMENTS`.
//   serve SCHEMA        graphql-http on a free port; prints the port, then serves until it is ended.
//   audit URL           the audits of graphql-http, one JSON line each: {id, name, status, reason}.
//   judge SCHEMA URL N  N generated documents: graphql-js says which are valid, the gateway at URL is asked; prints one JSON line each for those
//                       about which they differ, then {documents, valid}.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createServer, Agent, request } from "node:http";

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
} else if (mode === "audit") {
  const { auditServer } = load("graphql-http");
  for (const result of await auditServer({ url: rest[0] })) {
    say({ id: result.id, name: result.name, status: result.status, reason: result.reason ?? "" });
  }
} else if (mode === "judge") {
  const schema = graphql.buildSchema(readFileSync(rest[0], "utf8"));
  const documents = [...generate(schema, Number(rest[2]))];
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

// Documents of a seed: valid ones made from the schema, each also with one change that may or may not break it.
function* generate(schema, count) {
  let state = 20_261_124;
  const random = (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const pick = (list) => list[random(list.length)];
  const chance = (percent) => random(100) < percent;
  const names = ["a", "b", "id", "name", "me", "user", "x"];
  const scalars = { Int: ["1", "-7", "2147483647"], Float: ["1.5", "2"], String: ['"s"', '"""b"""'], Boolean: ["true"], ID: ['"i"', "4"] };

  function value(type, variables) {
    if (graphql.isNonNullType(type)) return value(type.ofType, chance(70) ? null : variables);
    if (variables && chance(25)) {
      const name = `v${variables.size}`;
      variables.set(name, String(type));
      return `$${name}`;
    }
    if (graphql.isListType(type)) return chance(20) ? value(type.ofType) : `[${value(type.ofType)}, ${value(type.ofType)}]`;
    if (graphql.isEnumType(type)) return pick(type.getValues()).name;
    if (graphql.isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).filter((field) => graphql.isRequiredInputField(field) || chance(40));
      return `{${fields.map((field) => `${field.name}: ${value(field.type)}`).join(", ")}}`;
    }
    return pick(scalars[type.name] ?? ['"c"']);
  }

  function selection(type, depth, variables, fragments) {
    const parts = [];
    const fields = graphql.isUnionType(type) ? [] : Object.values(type.getFields());
    for (let n = 1 + random(3); n > 0; n--) {
      if (chance(12) || !fields.length) {
        parts.push("__typename");
      } else if (chance(15) && depth > 0) {
        const possible = graphql.isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
        const on = pick(possible);
        if (chance(50)) parts.push(`... on ${on.name} ${selection(on, depth - 1, variables, fragments)}`);
        else {
          const name = `F${fragments.length}`;
          fragments.push("");
          fragments[Number(name.slice(1))] = `fragment ${name} on ${on.name} ${selection(on, depth - 1, null, fragments)}`;
          parts.push(`...${name}`);
        }
      } else {
        const field = pick(fields);
        const of = graphql.getNamedType(field.type);
        if (depth === 0 && graphql.isCompositeType(of)) continue;
        const given = field.args.filter((arg) => graphql.isRequiredArgument(arg) || chance(40));
        const args = given.map((arg) => `${arg.name}: ${value(arg.type, variables)}`);
        const alias = chance(15) ? `${pick(names)}: ` : "";
        const directive = chance(8) ? ` @${pick(["skip", "include"])}(if: ${pick(["true", "false"])})` : "";
        const below = graphql.isCompositeType(of) ? ` ${selection(of, depth - 1, variables, fragments)}` : "";
        parts.push(`${alias}${field.name}${args.length ? `(${args.join(", ")})` : ""}${directive}${below}`);
      }
    }
    return `{ ${parts.join(" ") || "__typename"} }`;
  }

  function whole() {
    const roots = [["query", schema.getQueryType()], ["mutation", schema.getMutationType()], ["subscription", schema.getSubscriptionType()]];
    const [kind, type] = chance(70) ? roots[0] : pick(roots.filter(([, type]) => type));
    const variables = new Map();
    const fragments = [];
    const selected = selection(type, 3, variables, fragments);
    const written = [...variables].map(([name, type]) => `$${name}: ${type}`).join(", ");
    const head = written || kind !== "query" || chance(30) ? `${kind} ${chance(40) ? "Named" : ""}${written ? `(${written})` : ""} ` : "";
    return [`${head}${selected}`, ...fragments].join("\n");
  }

  const changes = [
    (text) => text.replace(/\b(me|user|node|id|name)\b/, pick(["nobody", "email", "pet", "__schema", "friends"])),
    (text) => text.replace(/\{ \w+ \}/, ""),
    (text) => text.replace("(", "(unknown: 1, "),
    (text) => text.replace(/: "[^"]*"/, `: ${pick(["1", "null", "true", "[1]", "{a: 1}", "ENUM", "$undefined"])}`),
    (text) => text.replace(/\$v0\b/, "$other"),
    (text) => text.replace(/: (ID|Int|Size|Filter|String)/, `: ${pick(["Boolean", "User", "[ID]", "Nothing", "Int!"])}`),
    (text) => `${text}\nfragment Unused on User { id }`,
    (text) => text.replace(/\.\.\.F0/, "...F9"),
    (text) => text.replace(/\.\.\. on \w+/, `... on ${pick(["Query", "Pet", "Size", "Nothing", "Node"])}`),
    (text) => text.replace("}", pick(["@skip }", "@unknown }", "} }", ""])),
    (text) => text.replace(/(\w+) \{/, "$1 @skip(if: true) @skip(if: false) {"),
    (text) => `${text}\n${pick(["{ me { id } }", "query Named { me { id } }", "type Extra { a: Int }", "schema { query: Query }"])}`,
    (text) => text.replace(/\}\s*$/, " dup: me { id } dup: user(id: 1) { id } }"),
    (text) => text.replace(/\}\s*$/, " __schema { types { name } } }"),
    (text) => text.replace(/"/, '"\\u{1F600}'),
    (text) => text.replace(/\b1\b/, "3000000000"),
    (text) => text.replace(/^(\w+) /, "$1 @include(if: true) "),
    (text) => text.slice(0, random(text.length)),
  ];
  for (let n = 0; n < count; n += 2) {
    const text = whole();
    yield text;
    yield pick(changes)(text);
  }
}
