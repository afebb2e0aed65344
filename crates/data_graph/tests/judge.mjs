// Judges plans and executions: `node judge.mjs PACKAGES COUNT SEED [SHOWN]` serves subgraphs and asks its parent (stdin and stdout, see
// judge/conversation.rs) for the responses to generated queries. The same data behind one schema is the reference: graphql-js answers both.
// The end is {result: {queries, withErrors, requests, differences}}.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { generate } from "../../gateway/tests/e2e/graphql_documents.mjs";
import { missing, rootValue, subgraphs, world } from "./judge_data.mjs";

const [packages, count, seed] = process.argv.slice(2);
const graphql = createRequire(`${packages}/`)("graphql");
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function ask(value) {
  process.stdout.write(JSON.stringify(value) + "\n");
  return JSON.parse((await lines.next()).value);
}

const FEDERATION = `
  directive @key(fields: String!, resolvable: Boolean = true) repeatable on OBJECT | INTERFACE
  directive @external on OBJECT | FIELD_DEFINITION
  directive @requires(fields: String!) on FIELD_DEFINITION
  directive @provides(fields: String!) on FIELD_DEFINITION
  directive @shareable repeatable on OBJECT | FIELD_DEFINITION
  directive @interfaceObject on OBJECT
  scalar _Any`;

// A schema that answers `_entities`, and refuses what a gateway must not ask of it.
function serve({ name, sdl }) {
  const plain = graphql.parse(sdl.replace(/extend schema[^)]*\)/, "").replace(/\bextend type\b/g, "type"));
  const keyed = plain.definitions.filter((type) => type.kind.startsWith("ObjectType") && type.directives.some((of) => of.name.value === "key"));
  const root = `extend type Query { _entities(representations: [_Any!]!): [_Entity]! } union _Entity = ${keyed.map((type) => type.name.value).join(" | ")}`;
  const query = plain.definitions.some((type) => type.name?.value === "Query") ? "" : "type Query";
  const printed = `${FEDERATION} ${query} ${root} ${graphql.print(plain)}`;
  const schema = graphql.buildSchema(printed, { assumeValidSDL: true });
  const provided = new Set([...sdl.matchAll(/@provides\(fields: "(\w+)"\)/g)].map((found) => found[1]));
  const directive = (field, wanted) => field.astNode?.directives.find((of) => of.name.value === wanted);
  const fieldResolver = (source, args, _context, info) => {
    const field = info.parentType.getFields()[info.fieldName];
    const given = source?.given ?? {};
    // Extensions of Federation 1 mark their keys as external, and have them.
    const isKey = info.parentType.astNode.directives.some((of) => of.name.value === "key" && of.arguments[0].value.value === field.name);
    if (directive(field, "external") && !isKey && !(field.name in given) && !provided.has(field.name)) {
      throw new Error(`${name} has no ${info.parentType}.${field.name}`);
    }
    const required = directive(field, "requires")?.arguments[0].value.value.replace(/\{[^}]*\}/g, "").match(/\w+/g) ?? [];
    const lacking = required.find((known) => !(known in given));
    if (lacking) throw new Error(`${name} was not given ${lacking} for ${info.parentType}.${field.name}`);
    const value = source?.[field.name];
    return typeof value === "function" ? value.call(source, args) : value;
  };
  const entity = (representation) => {
    const type = representation.__typename;
    const known = schema.getType(type);
    const keys = known.astNode.directives.filter((of) => of.name.value === "key").map((of) => of.arguments[0].value.value);
    const key = keys.map((text) => text.replace(/\{[^}]*\}/g, "").match(/\w+/g)).find((names) => names.every((of) => representation[of] != null));
    if (!key) throw new Error(`${name} was given no key of ${type}: ${JSON.stringify(representation)}`);
    const matches = (own, wanted) => (typeof wanted === "object" ? Object.entries(wanted).every(([of, value]) => matches(own?.[of], value)) : String(own) === String(wanted));
    const all = world[type] ?? Object.values(world).flat();
    const found = all.find((of) => key.every((part) => matches(of[part], representation[part])));
    if (!found || missing[name]?.includes(found.id)) return null;
    const typeName = graphql.isObjectType(known) ? type : found.__typename;
    return Object.assign(Object.create(found), representation, { given: representation, __typename: typeName });
  };
  const root_ = Object.assign(Object.create(rootValue), { _entities: ({ representations }) => representations.map(entity) });
  return (body) => {
    const { query, variables } = JSON.parse(body);
    const document = graphql.parse(query);
    const errors = graphql.validate(schema, document);
    if (errors.length) return { errors: errors.map((error) => ({ message: `${name}: ${error.message}` })) };
    return graphql.execute({ schema, document, rootValue: root_, variableValues: variables, fieldResolver });
  };
}

function valueOf(type, random) {
  if (graphql.isNonNullType(type)) return valueOf(type.ofType, random);
  if (graphql.isListType(type)) return [valueOf(type.ofType, random), valueOf(type.ofType, random)];
  if (graphql.isEnumType(type)) return type.getValues()[random(type.getValues().length)].name;
  if (graphql.isInputObjectType(type)) return Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, valueOf(field.type, random)]));
  return { Int: random(4), Float: 1.5, String: ["a", "b", "r"][random(3)], Boolean: random(2) === 1, ID: String(1 + random(5)) }[type.name];
}

// The places that are null because of errors.
function nulled({ data, errors }) {
  const places = (errors ?? []).map(({ path }) => {
    let value = data;
    const place = [];
    for (const step of path ?? []) {
      if (value === null || value === undefined) break;
      value = value[step];
      place.push(step);
    }
    return JSON.stringify(place);
  });
  return [...new Set(places)].sort();
}

const served = subgraphs.map(serve);
const { schema: text, fault } = await ask({ subgraphs });
if (fault) throw new Error(fault);
const monolith = graphql.buildSchema(text);
const result = { queries: 0, withErrors: 0, requests: 0, differences: [] };
let state = Number(seed);
const random = (below) => ((state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0), Math.floor((state / 2 ** 32) * below));
const literals = { ID: ["1", '"2"', "3", '"4"', '"x"'], Int: ["0", "1", "2", "3"], String: ['"a"', '"b"'] };

for (const query of generate(graphql, monolith, Number(count), { seed: Number(seed), depth: 5, isChanged: false, literals })) {
  const document = graphql.parse(query);
  if (graphql.validate(monolith, document).length) continue;
  const declared = document.definitions.flatMap((definition) => definition.variableDefinitions ?? []);
  const variables = Object.fromEntries(declared.map((of) => [of.variable.name.value, valueOf(graphql.typeFromAST(monolith, of.type), random)]));
  const expected = JSON.parse(JSON.stringify(graphql.execute({ schema: monolith, document, rootValue, variableValues: variables })));
  // More errors than a response has.
  if ((expected.errors?.length ?? 0) > 90) continue;
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
  const got = said.response;
  if (!got || !isDeepStrictEqual(got.data, expected.data) || !isDeepStrictEqual(nulled(got), nulled(expected))) {
    result.differences.push({ query, variables, fault: said.fault, got, expected, log });
    if (result.differences.length > 20) break;
  }
}
process.stdout.write(JSON.stringify({ result }) + "\n");
process.exit(0);
