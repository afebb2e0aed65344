// Search over everything that the visitor sees: products, their APIs, and pages.

import { useState } from "preact/hooks";
import { get } from "../call";
import { link } from "../route";
import { Empty, ErrorBox, Field } from "../ui/bits";
import { useLoaded } from "../ui/loaded";
import { developer, type Page, type Product } from "./state";

/** Characters of a page's text around what was found. */
const AROUND = 80;

export function Search() {
  const [words, setWords] = useState("");
  const found = useLoaded(async () => ({ products: (await get<{ products: Product[] }>("products")).products, pages: (await get<{ pages: Page[] }>("pages")).pages }), [developer.value?.id]);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text: string) => wanted.every((word) => text.toLowerCase().includes(word));
  const hits = !wanted.length || !found.value ? [] : [
    ...found.value.products.filter((one) => has([one.name, one.summary, ...one.apis.map((api) => `${api.name} ${api.listen_path}`)].join(" "))).map((one) => ({ to: link(["products", one.id]), title: one.name, text: one.summary })),
    ...found.value.pages.filter((one) => has(`${one.title} ${one.text}`)).map((one) => ({ to: link(["pages", one.id]), title: one.title, text: around(one.text, wanted[0] ?? "") })),
  ];
  return (
    <>
      <h1 class="page">Search</h1>
      <Field label="Words"><input type="search" autofocus value={words} onInput={(event) => setWords(event.currentTarget.value)} /></Field>
      <p role="status" class="sr">{wanted.length ? `${hits.length} found` : ""}</p>
      {wanted.length > 0 && hits.length === 0 && <Empty icon="search" title="Nothing found" />}
      <ul class="cards">{hits.map((hit) => <li key={hit.to} class="panel card"><h2><a href={hit.to}>{hit.title}</a></h2><p>{hit.text}</p></li>)}</ul>
    </>
  );
}

function around(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - AROUND);
  return `${at > 0 ? "…" : ""}${text.slice(at, at + 2 * AROUND)}`;
}
