// The developer portal as operators run it: what waits for a decision, what is published, who uses what.

import { useEffect } from "preact/hooks";
import { link, route } from "../route";
import { session } from "../session";
import { Empty, LinkButton } from "../ui/bits";
import { PortalApplications, PortalRequests } from "./portal_applications";
import { Developers } from "./portal_developers";
import { PortalPages, Products } from "./portal_published";

const TABS = [["", "Requests"], ["products", "Products"], ["pages", "Pages"], ["applications", "Applications"], ["developers", "Developers"]] as const;

export function PortalPlace() {
  const tab = route.value.parts[1] ?? "";
  const url = session.value?.portal;
  useEffect(() => { document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }); }, [tab]);
  if (!url) return <><h1 class="page">Developer portal</h1><Empty icon="portal" title="There is no developer portal.">Set <code>tollgate.portal.listen</code> and <code>tollgate.portal.url</code>: developers then find APIs there, sign up and get keys by themselves.</Empty></>;
  return (
    <>
      <div class="page-head"><h1 class="page">Developer portal</h1><LinkButton class="push" icon="portal" href={url} target="_blank" rel="noopener">Open the portal</LinkButton></div>
      <nav class="tabs" aria-label="Parts of the portal">{TABS.map(([part, name]) => <a key={part} href={link(part ? ["portal", part] : ["portal"])} aria-current={tab === part ? "page" : undefined}>{name}</a>)}</nav>
      {tab === "" && <PortalRequests />}{tab === "products" && <Products />}{tab === "pages" && <PortalPages />}{tab === "applications" && <PortalApplications />}{tab === "developers" && <Developers />}
    </>
  );
}
