// Generated GraphQL documents, for judges.
// Documents of a seed: valid ones made from the schema, each also with one change that may or may not break it, unless `isChanged` is false.
// `literals` are the values of scalars by type.
export function* generate(graphql, schema, count, { seed = 20_261_124, depth = 3, isChanged = true, literals = {} } = {}) {
  let state = seed;
  const random = (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const pick = (list) => list[random(list.length)];
  const chance = (percent) => random(100) < percent;
  const names = ["a", "b", "id", "name", "me", "user", "x"];
  const scalars = { Int: ["1", "-7", "2147483647"], Float: ["1.5", "2"], String: ['"s"', '"""b"""'], Boolean: ["true"], ID: ['"i"', "4"], ...literals };

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
    const selected = selection(type, depth, variables, fragments);
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
  for (let n = 0; n < count; n += isChanged ? 2 : 1) {
    const text = whole();
    yield text;
    if (isChanged) yield pick(changes)(text);
  }
}
