// Search over everything: APIs, keys, policies, clients, certificates, pages. A whole key finds itself; it travels in a body, never in an
// address.

import { useEffect, useRef, useState } from "preact/hooks";
import { get, listKeys, query } from "../call";
import { visible } from "../format";
import { go, link } from "../route";
import { Icon, type IconName } from "./icons";
import { Dialog } from "./dialog";

interface Found { icon: IconName; kind: string; name: string; note: string; to: string }
const EACH = 5;

const KINDS: { what: string; icon: IconName; kind: string; show: (row: any) => Omit<Found, "icon" | "kind"> }[] = [
  { what: "apis", icon: "api", kind: "API", show: (row) => ({ name: row.name || row.id, note: `${row.listen_path} -> ${row.target}`, to: link(["apis", row.id]) }) },
  { what: "keys", icon: "key", kind: "Key", show: (row) => ({ name: row.alias || row.id, note: [row.id, row.state !== "active" && row.state].filter(Boolean).join(", "), to: link(["keys", row.id]) }) },
  { what: "policies", icon: "policy", kind: "Policy", show: (row) => ({ name: row.name || row.id, note: row.id, to: link(["policies"], { open: row.id }) }) },
  { what: "clients", icon: "client", kind: "Client", show: (row) => ({ name: row.id, note: row.description || row.api_id, to: link(["clients"], { q: row.id }) }) },
  { what: "certs", icon: "certificate", kind: "Certificate", show: (row) => ({ name: row.names?.[0] ?? row.subject, note: row.subject, to: link(["certificates"], { q: row.subject }) }) },
];

export function Search({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found[] | null>(null);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => { input.current?.focus(); }, []);
  useEffect(() => {
    const q = text.trim();
    if (!q) { setFound(null); return; }
    const control = new AbortController();
    const timer = setTimeout(async () => {
      const answers = await Promise.all(KINDS.map(async ({ what, icon, kind, show }) => {
        try {
          const page: any = what === "keys" ? await listKeys({ q, limit: EACH }, { signal: control.signal }) : await get(`list/${what}${query({ q, limit: EACH })}`, { signal: control.signal });
          return page.rows.slice(0, EACH).map((row: any) => ({ icon, kind, ...show(row) }));
        } catch { return []; }
      }));
      if (control.signal.aborted) return;
      const tail: Found[] = [{ icon: "tail", kind: "Live tail", name: `Refusals and errors of "${q}"`, note: "by request id, path, key or address", to: link(["live"], { q }) }];
      setFound([...answers.flat(), ...tail]);
      setAt(0);
    }, 150);
    return () => { clearTimeout(timer); control.abort(); };
  }, [text]);
  const open = (one: Found | undefined) => { if (one) { close(); go(one.to); } };
  return (
    <Dialog title="Search" close={close}>
      <div class="search" onKeyDown={(event) => {
        const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        if (step && found) { event.preventDefault(); setAt((at + step + found.length) % found.length); }
        if (event.key === "Enter") { event.preventDefault(); open(found?.[at]); }
      }}>
        <input ref={input} type="search" aria-label="Search" {...{ role: "combobox" } as {}} aria-expanded={!!found} aria-controls="found" aria-activedescendant={found ? `found-${at}` : undefined}
          placeholder="API, path, key, alias, policy, certificate, request id" autocomplete="off" spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <ul id="found" role="listbox" aria-label="Results">{found?.map((one, index) => (
          <li key={one.to + index} id={`found-${index}`} role="option" aria-selected={index === at} class={index === at ? "at" : ""} onMouseMove={() => setAt(index)} onClick={() => open(one)}>
            <Icon name={one.icon} /><span><bdi>{visible(one.name)}</bdi><small><bdi>{visible(one.note)}</bdi></small></span><em>{one.kind}</em>
          </li>
        ))}</ul>
      </div>
    </Dialog>
  );
}
