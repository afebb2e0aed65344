// Search over everything that the visitor sees: products, their APIs with operations and fields, tools that servers have told, and pages.

import { useMemo, useState } from "preact/hooks";
import { get } from "../call";
import * as format from "../format";
import { link } from "../route";
import { Badge, Empty, ErrorBox, Field } from "../ui/bits";
import { useLoaded } from "../ui/loaded";
import { plain } from "./markdown";
import { developer, toldTools, type Page, type Product, type ToldTools } from "./state";

/** Characters of a text around what was found. */
const AROUND = 80;
/** Hits that are shown. */
const HITS_MAX = 50;

interface Index { products: { id: string; description: string; apis: { id: string; operations: { method: string; path: string; summary: string; operation_id: string }[]; fields: string[] }[] }[] }
/** What can be found: `text` is what is searched besides the title. */
interface Entry { kind: "Product" | "Operation" | "Field" | "Tool" | "Page"; to: string; title: string; text: string; all: string }

export function Search() {
  const [words, setWords] = useState("");
  const found = useLoaded(async () => {
    const [products, index, pages] = await Promise.all([get<{ products: Product[] }>("products"), get<Index>("search"), get<{ pages: Page[] }>("pages")]);
    return { products: products.products, index: index.products, pages: pages.pages };
  }, [developer.value?.id]);
  const entries = useMemo(() => (found.value ? [...entriesOf(found.value), ...toldTools.value.flatMap(tools)] : []), [found.value, toldTools.value]);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = wanted.length === 0 ? [] : entries.filter((one) => wanted.every((word) => one.all.includes(word)));
  return (
    <>
      <h1 class="page">Search</h1>
      <Field label="Words"><input type="search" autofocus value={words} onInput={(event) => setWords(event.currentTarget.value)} /></Field>
      <p role="status" class={hits.length > HITS_MAX ? "" : "sr"}>{wanted.length ? `${hits.length} found${hits.length > HITS_MAX ? `; the first ${HITS_MAX} are shown` : ""}` : ""}</p>
      {wanted.length > 0 && hits.length === 0 && found.value && <Empty icon="search" title="Nothing found" />}
      <ul class="cards">{hits.slice(0, HITS_MAX).map((hit, index) => <li key={index} class="panel card"><h2><a href={hit.to}>{format.visible(hit.title)}</a></h2><p><Badge tone="muted">{hit.kind}</Badge> {around(hit.text, wanted)}</p></li>)}</ul>
    </>
  );
}

const entry = (kind: Entry["kind"], to: string, title: string, text: string, more = ""): Entry => ({ kind, to, title, text, all: `${title} ${text} ${more}`.toLowerCase() });

/** Tools of a server that the visitor has asked for them. */
function tools({ product, api, tools }: ToldTools): Entry[] {
  return tools.map((one) => entry("Tool", link(["products", product, "apis", api.id], { tool: one.name }), one.name, [one.title, one.description].filter(Boolean).join(" \u2013 "), api.name));
}

function entriesOf({ products, index, pages }: { products: Product[]; index: Index["products"]; pages: Page[] }): Entry[] {
  return [
    ...products.map((one) => entry("Product", link(["products", one.id]), one.name, [one.summary, plain(index.find((other) => other.id === one.id)?.description ?? "")].filter(Boolean).join(" "), one.apis.map((api) => `${api.name} ${api.listen_path}`).join(" "))),
    ...pages.map((one) => entry("Page", link(["pages", one.id]), one.title, plain(one.text))),
    ...index.flatMap((product) => {
      const { name = product.id, apis = [] } = products.find((one) => one.id === product.id) ?? {};
      return product.apis.flatMap((api) => {
        const place = ["products", product.id, "apis", api.id], own = apis.find((one) => one.id === api.id)?.name ?? api.id, of = own === name ? name : `${own}, ${name}`;
        return [
          ...api.operations.map((one) => entry("Operation", link(place, { op: `${one.method} ${one.path}` }), `${one.method.toUpperCase()} ${one.path}`, [one.summary, of].filter(Boolean).join(" \u2013 "), one.operation_id)),
          ...api.fields.map((one) => entry("Field", link(place, { type: one.split(".")[0] }), one, of)),
        ];
      });
    }),
  ];
}

/** The text around the first of these words that is in it. */
function around(text: string, words: string[]): string {
  const first = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0).sort((a, b) => a - b)[0] ?? 0;
  const from = Math.max(0, first - AROUND);
  return `${from > 0 ? "…" : ""}${text.slice(from, from + 2 * AROUND)}${from + 2 * AROUND < text.length ? "…" : ""}`;
}
