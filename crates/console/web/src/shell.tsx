// The frame around all pages: navigation, search, the gateways, the clock, who is signed in, and the keys that work everywhere.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import * as format from "./format";
import * as live from "./live";
import { Apis } from "./pages/apis";
import { Keys } from "./pages/keys";
import { Overview } from "./pages/overview";
import { Tail } from "./pages/tail";
import { Usage } from "./pages/usage";
import { lazily } from "./ui/lazily";
import { go, link, route } from "./route";
import { session, signOut } from "./session";
import { Button, Empty, LinkButton } from "./ui/bits";
import { Boundary } from "./ui/boundary";
import { Dialog } from "./ui/dialog";
import { Icon, Logo, type IconName } from "./ui/icons";
import { Search } from "./ui/search";
import { dark, narrow, theme } from "./ui/screen";

const ApiPage = lazily("ApiPage"), Certificates = lazily("Certificates"), Clients = lazily("Clients"), KeyPage = lazily("KeyPage"), Models = lazily("Models"), PortalPlace = lazily("PortalPlace"), Policies = lazily("Policies"), System = lazily("System");

interface Place { id: string; name: string; icon: IconName; key: string; page: ComponentType; one?: ComponentType; /** Whether it concerns more than an operator with a scope may see. */ whole?: boolean }
const PLACES: Place[] = [
  { id: "overview", name: "Overview", icon: "overview", key: "o", page: Overview },
  { id: "apis", name: "APIs", icon: "api", key: "a", page: Apis, one: ApiPage },
  { id: "keys", name: "Keys", icon: "key", key: "k", page: Keys, one: KeyPage },
  { id: "policies", name: "Policies", icon: "policy", key: "p", page: Policies },
  { id: "clients", name: "OAuth clients", icon: "client", key: "c", page: Clients },
  { id: "certificates", name: "Certificates", icon: "certificate", key: "e", page: Certificates, whole: true },
  { id: "usage", name: "Usage", icon: "usage", key: "u", page: Usage, whole: true },
  { id: "models", name: "Models", icon: "model", key: "m", page: Models, whole: true },
  { id: "portal", name: "Portal", icon: "portal", key: "d", page: PortalPlace, whole: true },
  { id: "live", name: "Live tail", icon: "tail", key: "l", page: Tail },
  { id: "system", name: "System", icon: "system", key: "s", page: System, whole: true },
];

export function Shell() {
  const [menu, setMenu] = useState(false);
  const [search, setSearch] = useState(false);
  const [help, setHelp] = useState(false);
  const { parts } = route.value;
  const place = PLACES.find((one) => one.id === (parts[0] ?? "overview"));
  useEffect(() => { document.title = `${parts[1] ? `${format.visible(parts[1])} - ` : ""}${place?.name ?? "Not found"} - Tollgate`; setMenu(false); }, [route.value]);
  useKeys({ search: () => setSearch(true), help: () => setHelp(true) });
  const Page = place ? (parts[1] && place.one) || place.page : null;
  return (
    <div class={`shell ${menu ? "with-menu" : ""}`}>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>Skip to the content</a>
      <nav aria-label="Pages">
        <a class="brand" href="#/"><Logo />Tollgate</a>
        <ul>{PLACES.filter((one) => !one.whole || !session.value?.scope).map((one) => (
          <li key={one.id}><a href={`#/${one.id === "overview" ? "" : one.id}`} aria-current={place === one ? "page" : undefined} onClick={() => setMenu(false)}><Icon name={one.icon} />{one.name}</a></li>
        ))}</ul>
        <div class="who">
          <span class="user" title={session.value?.by_secret ? "Signed in with the control secret" : `Role: ${session.value?.role}`}><Icon name="client" /><span><bdi>{session.value?.by_secret ? "control secret" : format.visible(session.value?.user)}</bdi><small>{session.value?.role}</small></span></span>
          <Button icon="out" kind="quiet" aria-label="Sign out" title="Sign out" onClick={() => void signOut()} />
        </div>
      </nav>
      {menu && <div class="veil" onClick={() => setMenu(false)} />}
      <header class="top">
        {narrow.value && <Button icon="menu" kind="quiet" aria-label="Menu" aria-expanded={menu} onClick={() => setMenu(!menu)} />}
        <button type="button" class="search-box" aria-label="Search everything" onClick={() => setSearch(true)}><Icon name="search" /><span>Search</span><kbd>/</kbd></button>
        <Connection />
        <Clock />
        <Button icon={dark.value ? "sun" : "moon"} kind="quiet" aria-label={dark.value ? "Light theme" : "Dark theme"} title={dark.value ? "Light theme" : "Dark theme"} onClick={() => { theme.value = dark.value ? "light" : "dark"; }} />
        {!narrow.value && <Button kind="quiet" class="help" aria-label="Keyboard keys" title="Keyboard keys (?)" onClick={() => setHelp(true)}>?</Button>}
      </header>
      <main id="content" tabIndex={-1}>
        {Page ? <Boundary key={parts.slice(0, 2).join("/")}><Page /></Boundary> : <Empty icon="alert" title="There is no such page."><LinkButton href="#/">Overview</LinkButton></Empty>}
      </main>
      {search && <Search close={() => setSearch(false)} />}
      {help && <Help close={() => setHelp(false)} />}
    </div>
  );
}

/** How many gateways are in view, and whether figures arrive. */
function Connection() {
  const { kind, words, since } = live.state.value;
  const now = live.now.value;
  if (kind === "lost") return <span class="connection bad" role="status" title={words}><i />No answer since {format.clock(since / 1000, true)}</span>;
  if (kind === "refused") return <span class="connection warn" role="status" title={words}><i />Figures are not updated</span>;
  if (kind === "closed") return <span class="connection muted">{format.visible(session.value?.node)}</span>;
  if (kind === "off") return <span class="connection muted" title={words}><i />No live figures</span>;
  const nodes = now?.nodes.length ?? 1, missing = now?.missing.length ?? 0;
  return <a class={`connection ${missing ? "warn" : kind === "live" ? "ok" : "muted"}`} href="#/system" title={now?.nodes.join(", ")}><i />{nodes === 1 && !missing ? format.visible(now?.node ?? session.value?.node) : `${nodes} gateways`}{missing > 0 && `, ${missing} silent`}</a>;
}

function Clock() {
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((turn) => turn + 1), 5000);
    return () => clearInterval(timer);
  }, []);
  const now = Date.now() / 1000;
  return <button type="button" class="clock" title="Switch between local time and UTC" onClick={() => { format.utc.value = !format.utc.value; }}><time>{format.clock(now)}</time> <small>{format.offset(now)}</small></button>;
}

/** The keys that work on every page. `g` waits for a second key for a second and a half. */
function useKeys(does: { search: () => void; help: () => void }): void {
  useEffect(() => {
    let went = 0;
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); does.search(); return; }
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const target = event.composedPath()[0];
      if (target instanceof HTMLElement && (target.isContentEditable || (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !["checkbox", "radio"].includes((target as HTMLInputElement).type)))) {
        if (event.key === "Escape") target.blur();
        return;
      }
      if (localStorage.getItem("letters") === "off") return;
      if (event.timeStamp - went < 1500) {
        went = 0;
        const place = PLACES.find((one) => one.key === event.key);
        if (place) { event.preventDefault(); go(place.id === "overview" ? "#/" : link([place.id])); return; }
      }
      if (event.key === "g") went = event.timeStamp;
      else if (event.key === "/") { event.preventDefault(); does.search(); }
      else if (event.key === "?") { event.preventDefault(); does.help(); }
      else if (event.key === "e") document.querySelector<HTMLElement>("[data-key=e]")?.click();
      else if (event.key === "n") document.querySelector<HTMLElement>("[data-key=n]")?.click();
      else if (event.key === "Escape") { const { parts } = route.peek(); if (parts.length > 1) go(link([parts[0]!])); }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

const KEYS: [string, string][] = [
  ["/ or Ctrl-K", "Search everything"], ["g then o a k p c e u m d l s", "Go to Overview, APIs, Keys, Policies, Clients, Certificates, Usage, Models, Portal, Live tail, System"],
  ["j, k", "Next, previous row"], ["Enter", "Open the row"], ["e", "Edit"], ["n", "New"], ["Esc", "Close, back to the list"], ["?", "This list"],
];

function Help({ close }: { close: () => void }) {
  const [on, set] = useState(localStorage.getItem("letters") !== "off");
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">{KEYS.map(([keys, does]) => <><dt><kbd>{keys}</kbd></dt><dd>{does}</dd></>)}</dl>
      <label class="choice"><input type="checkbox" checked={on} onChange={() => { localStorage.setItem("letters", on ? "off" : "on"); set(!on); }} /> Single letters act</label>
    </Dialog>
  );
}
