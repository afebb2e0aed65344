// The frame around all pages of the portal: its name, where one can go, and who is signed in.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure } from "../call";
import { link, route } from "../route";
import { Button, Empty, LinkButton, Note } from "../ui/bits";
import { Boundary } from "../ui/boundary";
import { dark, theme } from "../ui/screen";
import { Account } from "./account";
import { ApplicationPage, Applications } from "./applications";
import { Catalogue, ProductPage } from "./catalogue";
import { Connect, Forgotten, Password, SignIn, SignUp, Welcome } from "./doors";
import { later } from "./lazily";
import { developer, facts, load, pages, signOut, silent } from "./state";

const GuidePage = later("GuidePage"), ApiDocument = later("ApiDocument"), Teams = later("Teams"), InvoicesPage = later("InvoicesPage"), Search = later("Search");

export function Frame() {
  const { parts } = route.value;
  const [menu, setMenu] = useState(false);
  useEffect(() => { setMenu(false); document.title = [facts.value?.name].filter(Boolean).join(" - "); }, [route.value, facts.value]);
  if (silent.value) return <main class="door"><Note tone="bad" icon="alert" actions={<Button onClick={() => void load()}>Retry</Button>}>{silent.value}</Note></main>;
  if (!facts.value) return null;
  const at = parts[0] ?? "";
  const current = (place: string) => (place === at || (place === "" && at === "products") ? "page" as const : undefined);
  return (
    <div class="portal">
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>Skip to the content</a>
      <header class="bar-top">
        <a class="brand" href="#/">{facts.value.has_logo && <img src="logo" alt="" />}{facts.value.name}</a>
        <Button class="menu" icon="menu" kind="quiet" aria-label="Menu" aria-expanded={menu} onClick={() => setMenu(!menu)} />
        <nav aria-label="Pages" class={menu ? "open" : ""}>
          <a href="#/" aria-current={current("")}>APIs</a>
          {pages.value.map((page) => <a key={page.id} href={link(["pages", page.id])} aria-current={at === "pages" && parts[1] === page.id ? "page" : undefined}>{page.title}</a>)}
          {developer.value && <a href="#/applications" aria-current={current("applications")}>Applications</a>}
          {developer.value && <a href="#/teams" aria-current={current("teams")}>Teams</a>}
          <a href="#/search" aria-current={current("search")}>Search</a>
        </nav>
        <div class="who-is">
          <Button icon={dark.value ? "sun" : "moon"} kind="quiet" aria-label={dark.value ? "Light colours" : "Dark colours"} onClick={() => { theme.value = dark.value ? "light" : "dark"; }} />
          {developer.value
            ? <><LinkButton kind="quiet" icon="client" href="#/account"><bdi>{developer.value.name}</bdi></LinkButton><Button icon="out" kind="quiet" aria-label="Sign out" onClick={() => void signOut()} /></>
            : <><LinkButton kind="quiet" href="#/sign-in">Sign in</LinkButton>{facts.value.signs_up && <LinkButton kind="primary" href="#/sign-up">Sign up</LinkButton>}</>}
        </div>
      </header>
      <main id="content" tabIndex={-1}><Boundary key={parts.join("/")}>{view(parts)}</Boundary></main>
    </div>
  );
}

function view(parts: string[]): ComponentChildren {
  const [place = "", one = "", more = "", third = ""] = parts;
  const inside = (page: ComponentChildren) => (developer.value ? page : <SignIn />);
  switch (place) {
    case "": return <Catalogue />;
    case "products": return more === "apis" ? <ApiDocument product={one} api={third} /> : <ProductPage id={one} />;
    case "pages": return <GuidePage id={one} />;
    case "search": return <Search />;
    case "sign-in": return developer.value ? <Catalogue /> : <SignIn />;
    case "sign-up": return <SignUp />;
    case "forgotten": return <Forgotten />;
    case "welcome": return <Welcome token={one} />;
    case "connect": return <Connect token={one} />;
    case "password": return <Password token={one} />;
    case "applications": return inside(one ? <ApplicationPage id={one} /> : <Applications />);
    case "invoices": return inside(<InvoicesPage />);
    case "teams": return inside(<Teams />);
    case "account": return inside(<Account />);
    default: return <Missing />;
  }
}

export function Missing({ failure }: { failure?: unknown }) {
  const words = failure instanceof Failure ? failure.message : "There is no such page";
  return <><h1 class="sr">{words}</h1><Empty title={words}><LinkButton href="#/">All APIs</LinkButton></Empty></>;
}
