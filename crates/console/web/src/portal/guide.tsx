// A page that operators wrote.

import { get, segment } from "../call";
import { ErrorBox, Panel } from "../ui/bits";
import { useLoaded } from "../ui/loaded";
import { Markdown } from "./markdown";
import type { Page } from "./state";

export function GuidePage({ id }: { id: string }) {
  const found = useLoaded(() => get<Page>(`pages/${segment(id)}`), [id]);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  if (!found.value) return null;
  return <><h1 class="page">{found.value.title}</h1><Panel class="prose"><Markdown text={found.value.text} /></Panel></>;
}
