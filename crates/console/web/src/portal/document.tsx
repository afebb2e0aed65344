// What describes an API: the operations of an OpenAPI document, or the schema of a GraphQL API. A document is hostile input: nothing in it is followed,
// references lead only to places in the document, and everything has a bound.

import { type Signal, signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { get, segment } from "../call";
import { link, route } from "../route";
import { Empty, ErrorBox, Field, LinkButton, Panel } from "../ui/bits";
import { useLoaded } from "../ui/loaded";
import type { Caller } from "./caller";
import { GraphqlReference } from "./graphql_reference";
import { Markdown, safe } from "./markdown";
import { OperationPanel, Webhook } from "./operation";
import { has, operationsOf, summaryOf, tagsOf } from "./operations";
import { type Json, object, text } from "./reference";
import { Words } from "./schema";
import { base, facts, type Api } from "./state";
import { Tools } from "./tools";
import { TryQuery } from "./try";

/** So many operations are open at first. */
const OPEN_MAX = 10;
/** Characters of what is said of a tag. */
const TAG_WORDS_MAX = 5_000;

export function ApiDocument({ product, api: id }: { product: string; api: string }) {
  const found = useLoaded(() => get<{ api: Api; document: Json }>(`products/${segment(product)}/apis/${segment(id)}`), [product, id]);
  const caller = useMemo(() => signal<Caller>({ product, chosen: null, pasted: "" }), [product, id]);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  if (!found.value) return null;
  const { api, document } = found.value;
  return (
    <>
      <p class="crumbs"><a href={link(["products", product])}>Product</a></p>
      <div class="page-head"><h1>{api.name}</h1></div>
      <p class="lead"><code>{base(api)}</code></p>
      {api.key_header && <p class="needs">Calls need {api.token_path ? "an access token" : "a key"} in the header <code>{api.key_header}</code>.</p>}
      {api.kind === "graphql" && typeof document === "string" && <>
        {facts.value?.try_it && <Panel title="Query"><div class="body"><TryQuery api={api} caller={caller} /></div></Panel>}
        <GraphqlReference text={document} at={[product, id]} />
      </>}
      {document && typeof document === "object" && <Operations document={document} api={api} caller={caller} at={[product, id]} />}
      {api.kind === "mcp" && <><p>Connect a client of the Model Context Protocol to this address.</p>{facts.value?.try_it && <Tools api={api} caller={caller} />}</>}
      {!document && api.kind !== "mcp" && <Empty title="This API has no documentation" />}
      {!document && <p><LinkButton href={link(["products", product])}>Plans</LinkButton></p>}
    </>
  );
}

function Operations({ document, api, caller, at: [product, id] }: { document: Json; api: Api; caller: Signal<Caller>; at: [string, string] }) {
  const { operations, webhooks, tags } = useMemo(() => {
    const operations = operationsOf(document, document.paths);
    return { operations, webhooks: operationsOf(document, document.webhooks), tags: tagsOf(document, operations) };
  }, [document]);
  const [words, setWords] = useState("");
  const [turn, setTurn] = useState(0);
  const wanted = route.value.query.get("op");
  const looked = words.toLowerCase().split(/\s+/).filter(Boolean);
  const seen = tags.map((tag) => ({ ...tag, operations: tag.operations.filter((one) => has(one, looked)) })).filter((tag) => tag.operations.length > 0);
  const info = object(document.info), more = safe(text(object(document.externalDocs).url));
  return (
    <div class="with-contents">
      <nav class="contents" aria-label="Operations">
        {operations.length > 1 && <Field label="Find an operation"><input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} /></Field>}
        {seen.map((tag) => (
          <div key={tag.name}>{tags.length > 1 && <strong>{tag.name || "Others"}</strong>}<ul>{tag.operations.map((one) => (
            <li key={one.place}><a href={link(["products", product, "apis", id], { op: one.place })} aria-current={wanted === one.place ? "true" : undefined} onClick={() => setTurn(turn + 1)}><small>{one.method.toUpperCase()}</small> {summaryOf(one.value) || one.path}</a></li>
          ))}</ul></div>
        ))}
        {seen.length === 0 && operations.length > 0 && <p role="status">No operation has these words.</p>}
      </nav>
      <div>
        <Panel class="prose">
          <p><strong>{text(info.title).slice(0, TAG_WORDS_MAX)}</strong>{text(info.version) && <small> version {text(info.version)}</small>}</p>
          {text(info.description) && <Markdown text={text(info.description)} />}
          {more && <p><a href={more} rel="noreferrer">{text(object(document.externalDocs).description) || "More about it"}</a></p>}
        </Panel>
        {seen.map((tag) => (
          <section key={tag.name}>
            <h2 class="tag">{tag.name || (tags.length > 1 ? "Others" : "Operations")}</h2>
            <Words most={TAG_WORDS_MAX}>{tag.description}</Words>
            {tag.operations.map((one) => <OperationPanel key={one.place} document={document} api={api} operation={one} caller={caller} isOpen={operations.length <= OPEN_MAX} wanted={wanted === one.place ? turn : null} />)}
          </section>
        ))}
        {operations.length === 0 && <Empty title="Its document has no operations" />}
        {webhooks.length > 0 && <Panel title="Webhooks"><div class="body stack"><p>Calls that the API makes.</p>{webhooks.map((one) => <Webhook key={one.place} document={document} operation={one} />)}</div></Panel>}
      </div>
    </div>
  );
}
