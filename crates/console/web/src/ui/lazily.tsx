// Pages in a file of their own, which is fetched when the first page stands.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorBox } from "./bits";

type Pages = typeof import("../later");
let pages: Pages | null = null;

async function fetchPages(): Promise<Pages> { return (pages ??= await import("../later")); }
// What a click needs is there before the click.
setTimeout(() => void fetchPages().catch(() => {}), 1000);

export function lazily(name: keyof Pages): ComponentType {
  return function Later() {
    const [failure, setFailure] = useState<unknown>(null);
    const [, again] = useState(0);
    const Page = pages?.[name];
    // The pages may have come between this and the effect: what counts is whether one is shown.
    useEffect(() => { if (!Page) fetchPages().then(() => again((turn) => turn + 1), setFailure); }, []);
    if (failure) return <ErrorBox failure="This page could not be loaded." retry={() => location.reload()} />;
    return Page ? <Page /> : null;
  };
}
