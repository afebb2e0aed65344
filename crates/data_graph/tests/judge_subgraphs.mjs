// What the judges of federation share: subgraphs that answer, the queries, and the reference.
import { isDeepStrictEqual } from "node:util";
import { generate } from "../../gateway/tests/e2e/graphql_documents.mjs";
import { missing, rootValue, subgraphs, world } from "./judge_data.mjs";

// Queries with what is expected of a gateway, and functions that answer for the subgraphs. `graphql` is the package of that name.
export function judge(graphql) {
  const FEDERATION = `
    directive @key(fields: String!, resolvable: Boolean = true) repeatable on OBJECT | INTERFACE
    directive @external on OBJECT | FIELD_DEFINITION
    directive @requires(fields: String!) on FIELD_DEFINITION
    directive @provides(fields: String!) on FIELD_DEFINITION
    directive @shareable repeatable on OBJECT | FIELD_DEFINITION
    directive @interfaceObject on OBJECT
    directive @override(from: String!) on FIELD_DEFINITION
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
      const required = directive(field, "requires")?.arguments[0].value.value.replace(/\{[^}]*\}|\([^)]*\)/g, "").match(/\w+/g) ?? [];
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
  function nulled({ data, errors } = {}) {
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

  // Generated queries, with the response of one server that has all the data.
  function* cases(monolith, count, seed) {
    let state = seed;
    const random = (below) => ((state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0), Math.floor((state / 2 ** 32) * below));
    const literals = { ID: ["1", '"2"', "3", '"4"', '"x"'], Int: ["0", "1", "2", "3"], String: ['"a"', '"b"'] };
    for (const query of generate(graphql, monolith, count, { seed, depth: 5, isChanged: false, literals })) {
      const document = graphql.parse(query);
      if (graphql.validate(monolith, document).length) continue;
      const declared = document.definitions.flatMap((definition) => definition.variableDefinitions ?? []);
      const values = declared.map((of) => [of.variable.name.value, valueOf(graphql.typeFromAST(monolith, of.type), random)]);
      const variables = Object.fromEntries(values);
      const expected = JSON.parse(JSON.stringify(graphql.execute({ schema: monolith, document, rootValue, variableValues: variables })));
      // More errors than a response has.
      if ((expected.errors?.length ?? 0) <= 90) yield { query, variables, expected };
    }
  }

  const agree = (got, expected) => isDeepStrictEqual(got?.data, expected.data) && isDeepStrictEqual(nulled(got), nulled(expected));
  return { served: subgraphs.map(serve), cases, agree };
}
