// What describes an API: the operations of an OpenAPI document, or the schema of a GraphQL API. A document is hostile input: nothing in it is followed,
// references lead only to places in the document, and everything has a bound.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { get, segment } from "../call";
import { link } from "../route";
import { Badge, Empty, ErrorBox, LinkButton, Panel } from "../ui/bits";
import { useLoaded } from "../ui/loaded";
import { Markdown } from "./markdown";
import { base, type Api } from "./state";

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];
/** Operations that are shown. */
const OPERATIONS_MAX = 500;
/** How deep a schema is shown. */
const DEPTH_MAX = 6;
/** Members of an object that are shown. */
const MEMBERS_MAX = 100;
/** Members that are shown of a body with all that is in it: references multiply. */
const BODY_MEMBERS_MAX = 1000;

type Json = any;

export function ApiDocument({ product, api: id }: { product: string; api: string }) {
  const found = useLoaded(() => get<{ api: Api; document: Json }>(`products/${segment(product)}/apis/${segment(id)}`), [product, id]);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  if (!found.value) return null;
  const { api, document } = found.value;
  return (
    <>
      <p class="crumbs"><a href={link(["products", product])}>Product</a></p>
      <div class="page-head"><h1>{api.name}</h1></div>
      <p class="lead"><code>{base(api)}</code></p>
      {api.kind === "graphql" && typeof document === "string" && <Panel title="Schema"><pre class="body schema" tabIndex={0}>{document}</pre></Panel>}
      {document && typeof document === "object" && <Operations document={document} api={api} />}
      {!document && <Empty title="This API has no documentation">{api.kind === "mcp" && <>Connect a client of the Model Context Protocol to its address.</>}</Empty>}
      <p><LinkButton kind="primary" href={link(["products", product])}>Get access</LinkButton></p>
    </>
  );
}

interface Operation { method: string; path: string; value: Json; shared: Json[] }

function Operations({ document, api }: { document: Json; api: Api }) {
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(object(document.paths))) {
    for (const method of METHODS) {
      const value = object(item)[method];
      if (value && typeof value === "object" && operations.length < OPERATIONS_MAX) operations.push({ method, path, value, shared: list(object(item).parameters) });
    }
  }
  return (
    <>
      {text(document.info?.description) && <Panel class="prose"><Markdown text={text(document.info?.description)} /></Panel>}
      {operations.map((operation) => <OperationPanel key={`${operation.method} ${operation.path}`} document={document} api={api} operation={operation} />)}
    </>
  );
}

function OperationPanel({ document, api, operation }: { document: Json; api: Api; operation: Operation }) {
  const { method, path, value, shared } = operation;
  const parameters = [...shared, ...list(value.parameters)].map((one) => resolved(document, one)).slice(0, MEMBERS_MAX);
  const body = Object.entries(object(resolved(document, value.requestBody)?.content))[0];
  const answers = Object.entries(object(value.responses)).slice(0, MEMBERS_MAX);
  return (
    <Panel class="operation" title={<><Badge tone={value.deprecated ? "warn" : "accent"}>{method.toUpperCase()}</Badge> <code>{path}</code></>} note={text(value.summary)}>
      <div class="body stack">
        {value.deprecated && <p>Deprecated.</p>}
        {text(value.description) && <Markdown text={text(value.description)} />}
        <p><code class="muted">{base(api).replace(/\/$/, "") + path}</code></p>
        {parameters.length > 0 && <table class="plain"><caption class="sr">Parameters</caption><thead><tr><th scope="col">Parameter</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>
          {parameters.map((one, index) => <tr key={index}><th scope="row"><code>{text(one?.name)}</code>{one?.required && " *"}</th><td>{text(one?.in)}</td><td>{kind(document, one?.schema)}</td><td>{text(one?.description)}</td></tr>)}
        </tbody></table>}
        {body && <Folded title={`Body: ${body[0]}`}>{() => <Schema document={document} schema={object(body[1]).schema} />}</Folded>}
        {answers.map(([status, answer]) => {
          const shown = resolved(document, answer);
          const content = Object.entries(object(shown?.content))[0];
          return <Folded key={status} title={`${status} ${text(shown?.description)}`}>{() => content ? <Schema document={document} schema={object(content[1]).schema} /> : <p>No body.</p>}</Folded>;
        })}
      </div>
    </Panel>
  );
}

/** What is made only when somebody opens it. */
function Folded({ title, children }: { title: string; children: () => ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return <details onToggle={(event) => setOpen(event.currentTarget.open)}><summary>{title}</summary>{isOpen && children()}</details>;
}

function Schema({ document, schema, depth = 0, budget = { left: BODY_MEMBERS_MAX } }: { document: Json; schema: Json; depth?: number; budget?: { left: number } }) {
  const shown = resolved(document, schema);
  if (!shown || typeof shown !== "object" || depth > DEPTH_MAX || budget.left <= 0) return <p>…</p>;
  const inner = shown.type === "array" ? resolved(document, shown.items) : shown;
  const members = Object.entries(object(inner?.properties)).slice(0, MEMBERS_MAX);
  budget.left -= members.length;
  const required = new Set(list(inner?.required));
  if (members.length === 0) return <p><code>{kind(document, shown)}</code> {text(shown.description)}</p>;
  return (
    <ul class="schema-members">
      {shown.type === "array" && <li>A list of:</li>}
      {members.map(([name, member]) => {
        const value = resolved(document, member);
        const nested = Object.keys(object((value?.type === "array" ? resolved(document, value.items) : value)?.properties)).length > 0;
        return <li key={name}><code>{name}</code>{required.has(name) && " *"} <small>{kind(document, value)}</small> {text(value?.description)}{nested && <Schema document={document} schema={value} depth={depth + 1} budget={budget} />}</li>;
      })}
    </ul>
  );
}

/** What a reference leads to, if it is a place in the document. */
function resolved(document: Json, value: Json): Json {
  let at = value;
  for (let steps = 0; steps < 10; steps++) {
    const reference = at?.$ref;
    if (typeof reference !== "string") return at;
    if (!reference.startsWith("#/")) return { description: reference };
    at = reference.slice(2).split("/").reduce((inside: Json, part) => {
      const name = part.replace(/~1/g, "/").replace(/~0/g, "~");
      return inside && typeof inside === "object" && Object.hasOwn(inside, name) ? inside[name] : undefined;
    }, document);
  }
  return undefined;
}

function kind(document: Json, schema: Json): string {
  const shown = resolved(document, schema);
  if (!shown || typeof shown !== "object") return "";
  const type = Array.isArray(shown.type) ? shown.type.join(" or ") : text(shown.type);
  const values = Array.isArray(shown.enum) ? `: ${shown.enum.slice(0, 20).map(String).join(", ")}` : "";
  if (shown.type === "array") return `list of ${text(resolved(document, shown.items)?.type) || "anything"}`;
  return `${type || "any"}${shown.format ? ` (${text(shown.format)})` : ""}${values}`;
}

function object(value: Json): Record<string, Json> { return value && typeof value === "object" && !Array.isArray(value) ? value : {}; }
function list(value: Json): Json[] { return Array.isArray(value) ? value : []; }
function text(value: Json): string { return typeof value === "string" ? value : ""; }
