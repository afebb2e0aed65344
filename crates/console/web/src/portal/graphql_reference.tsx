// A GraphQL schema for people: its operations first, then its types, each with fields, arguments and what is deprecated. Types lead to each other.
// It is hostile input: everything has a bound, and what is folded is made when somebody opens it.

import { useMemo, useState } from "preact/hooks";
import { link, route } from "../route";
import { Badge, Empty, Field, Note, Panel } from "../ui/bits";
import { type Argument, type ReadSchema, type SchemaField, type SchemaType, nameIn, readSchema } from "./graphql_schema";
import { Folded, Words } from "./schema";
import { WantedPanel } from "./wanted_panel";

/** Types that are listed at once; a search finds the others. */
const LISTED_MAX = 300;
/** Arguments of all fields of a type that are shown. */
const ARGUMENTS_MAX = 1000;
const KINDS = { type: "Types", interface: "Interfaces", input: "Inputs", enum: "Enumerations", union: "Unions", scalar: "Scalars" } as const;
const ROOTS = "Operations";

export function GraphqlReference({ text, at }: { text: string; at: [string, string] }) {
  const schema = useMemo(() => readSchema(text), [text]);
  if (!schema || schema.types.length === 0) return <Panel title="Schema"><pre class="body schema" tabIndex={0}>{text}</pre></Panel>;
  return (
    <>
      <Types schema={schema} at={at} />
      <Panel title="Schema as text"><div class="body"><Folded title="The whole schema">{() => <pre class="schema" tabIndex={0}>{text}</pre>}</Folded></div></Panel>
    </>
  );
}

function Types({ schema, at: [product, api] }: { schema: ReadSchema; at: [string, string] }) {
  const [words, setWords] = useState("");
  const [turn, setTurn] = useState(0);
  const wanted = route.value.query.get("type");
  const known = useMemo(() => new Map(schema.types.map((type) => [type.name, type])), [schema]);
  const looked = words.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (type: SchemaType) => looked.every((word) => [type.name, ...type.fields.map((field) => field.name)].some((name) => name.toLowerCase().includes(word)));
  const groups = useMemo(() => {
    const isRoot = (type: SchemaType) => schema.roots.includes(type.name);
    const own = { name: ROOTS, types: schema.roots.flatMap((name) => known.get(name) ?? []) };
    return [own, ...Object.entries(KINDS).map(([kind, name]) => ({ name: name as string, types: schema.types.filter((type) => type.kind === kind && !isRoot(type)) }))];
  }, [schema]);
  let left = LISTED_MAX;
  const seen = groups.map((group) => {
    const fitting = group.types.filter((type) => has(type) || (type.name === wanted && looked.length === 0)), types = fitting.slice(0, left);
    // One that a link leads to is among them, wherever it stands.
    const one = fitting.find((type) => type.name === wanted);
    left -= types.length;
    return { ...group, types: one && !types.includes(one) ? [...types, one] : types, more: fitting.length - types.length };
  }).filter((group) => group.types.length > 0);
  const more = seen.reduce((sum, group) => sum + group.more, 0);
  const to = (name: string) => link(["products", product, "apis", api], { type: name });
  const shown: Known = { has: (name) => known.has(name), to, follow: () => setTurn(turn + 1) };
  return (
    <div class="with-contents">
      <nav class="contents" aria-label="Types">
        {schema.types.length > 1 && <Field label="Find a type or field"><input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} /></Field>}
        {seen.map((group) => <div key={group.name}><strong>{group.name}</strong><ul>{group.types.map((type) => <li key={type.name}><a href={to(type.name)} aria-current={wanted === type.name ? "true" : undefined} onClick={shown.follow}>{type.name}</a></li>)}</ul></div>)}
        {seen.length === 0 && <p role="status">No type has these words.</p>}
      </nav>
      <div>
        {(schema.isCut || more > 0) && <Note tone="warn" icon="alert">This schema is large: not all of it is shown here. Its text has everything.</Note>}
        {seen.map((group) => <section key={group.name}><h2 class="tag">{group.name}</h2>{group.types.map((type) => <TypePanel key={type.name} type={type} known={shown} isOpen={group.name === ROOTS} wanted={wanted === type.name ? turn : null} />)}</section>)}
        {seen.length === 0 && <Empty title="Nothing found" />}
      </div>
    </div>
  );
}

/** The types that there are, and where they are. */
interface Known { has: (name: string) => boolean; to: (name: string) => string; follow: () => void }

function TypePanel({ type, known, isOpen, wanted }: { type: SchemaType; known: Known; isOpen: boolean; wanted: number | null }) {
  return (
    <WantedPanel isOpen={isOpen} wanted={wanted} mark={{ "data-type": type.name }} title={<><Badge tone="accent">{type.kind}</Badge> <code>{type.name}</code></>}>{() => (
      <div class="body stack">
        <Words>{type.description}</Words>
        {type.members.length > 0 && <p>{type.kind === "union" ? "One of " : "Has the fields of "}{type.members.map((name, index) => <span key={name}>{index > 0 && ", "}<TypeLink type={name} known={known} /></span>)}.</p>}
        {type.fields.length > 0 && <ul class="schema-members">{withFewArguments(type.fields).map((field, index) => <FieldEntry key={index} field={field} known={known} />)}</ul>}
        {type.fields.length === 0 && type.members.length === 0 && !type.description && <p>Nothing more is said of it.</p>}
      </div>)}</WantedPanel>
  );
}

function withFewArguments(fields: SchemaField[]): SchemaField[] {
  let left = ARGUMENTS_MAX;
  return fields.map((field) => { const args = field.args.slice(0, left); left -= args.length; return { ...field, args }; });
}

function FieldEntry({ field, known }: { field: SchemaField; known: Known }) {
  return (
    <li>
      <Named one={field} known={known} />
      {field.args.length > 0 && <ul class="schema-members" aria-label={`Arguments of ${field.name}`}>{field.args.map((one, index) => <li key={index}><Named one={one} known={known} /></li>)}</ul>}
    </li>
  );
}

/** A field, an argument or a value, with what is said of it. */
function Named({ one, known }: { one: Argument; known: Known }) {
  return (
    <>
      <code>{one.name}</code>{one.type && <> <small><TypeLink type={one.type} known={known} /></small></>}{one.value && <> <small class="limit">default {one.value}</small></>}{one.deprecated !== null && <> <Badge tone="warn">deprecated</Badge></>}
      {one.deprecated && <Words>{one.deprecated}</Words>}
      <Words>{one.description}</Words>
    </>
  );
}

/** A type as it is written; it leads to its definition, if there is one. */
function TypeLink({ type, known }: { type: string; known: Known }) {
  const name = nameIn(type);
  return <code>{known.has(name) ? <a href={known.to(name)} onClick={known.follow}>{type}</a> : type}</code>;
}
