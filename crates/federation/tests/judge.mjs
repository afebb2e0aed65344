// The judge of compositions, which is not ours: `node judge.mjs DIRECTORY` reads cases from its input, [{name, subgraphs: [{name, sdl}], ours}],
// and prints [{name, ours, theirs}], where `ours` and `theirs` are {schema} or {errors}. Both schemas are sorted and printed by graphql-js.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const load = createRequire(`${process.argv[2]}/`);
const { parse, buildSchema, printSchema, lexicographicSortSchema } = load("graphql");
const { composeServices } = load("@theguild/federation-composition");

const cases = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(cases.map(({ name, subgraphs, ours }) => ({ name, ours: sorted(ours), theirs: theirs(subgraphs) }))));

function theirs(subgraphs) {
  try {
    const { errors, publicSdl } = composeServices(subgraphs.map(({ name, sdl }) => ({ name, typeDefs: parse(sdl), url: `http://${name}` })));
    return errors ? { errors: errors.map((error) => `${error.extensions?.code}: ${error.message}`) } : sorted({ schema: publicSdl });
  } catch (error) {
    return { errors: [`${error.name}: ${error.message}`] };
  }
}

function sorted({ schema, errors }) {
  if (errors) return { errors };
  return { schema: printSchema(lexicographicSortSchema(buildSchema(schema))) };
}
