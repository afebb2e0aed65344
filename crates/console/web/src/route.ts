// Where the page is: `#/apis/shop/live?q=pay`. Everything that a view shows is in the fragment, so that a link reproduces it and no
// proxy logs it.

import { signal } from "@preact/signals";

export interface Route { parts: string[]; query: URLSearchParams }

function parse(): Route {
  const [path = "", rest = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  return { parts, query: new URLSearchParams(rest) };
}

export const route = signal<Route>(parse());
/** Questions asked before a view is left, such as whether unsaved changes may be lost. */
export const guard = signal<(() => boolean) | null>(null);

let shown = location.hash;
addEventListener("hashchange", () => {
  if (location.hash === shown) return;
  if (guard.value && !guard.value()) {
    history.replaceState(null, "", shown || "#/");
    return;
  }
  guard.value = null;
  shown = location.hash;
  route.value = parse();
  scrollTo(0, 0);
});

export function link(parts: string[], members: Record<string, string | undefined> = {}): string {
  const pairs = Object.entries(members).filter(([, value]) => value) as [string, string][];
  return `#/${parts.map(encodeURIComponent).join("/")}${pairs.length ? `?${new URLSearchParams(pairs)}` : ""}`;
}

export function go(to: string): void { location.hash = to.replace(/^#/, ""); }

/** Changes members of the view's query in place; no step back is made of it. */
export function refine(members: Record<string, string | undefined>): void {
  const { parts, query } = route.peek();
  const merged: Record<string, string | undefined> = { ...Object.fromEntries(query), ...members };
  shown = link(parts, merged);
  history.replaceState(null, "", shown);
  route.value = parse();
}
