// What describes an API: the operations of an OpenAPI document, or the schema of a GraphQL API. A document is hostile input: nothing in it is followed,
// references lead only to places in the document, and everything has a bound.

import { get, segment } from "../call";
import { link } from "../route";
import { Badge, Empty, ErrorBox, LinkButton, Panel } from "../ui/bits";
import { useLoaded } from "../ui/loaded";
import { Markdown } from "./markdown";
import { Folded, MEMBERS_MAX, Schema, kind, list, object, resolved, text, type Json } from "./schema";
import { base, type Api } from "./state";
import { Tools } from "./tools";

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];
/** Operations that are shown. */
const OPERATIONS_MAX = 500;

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
      {api.kind === "mcp" && <><p>Connect a client of the Model Context Protocol to this address.</p><Tools api={api} /></>}
      {!document && api.kind !== "mcp" && <Empty title="This API has no documentation" />}
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
