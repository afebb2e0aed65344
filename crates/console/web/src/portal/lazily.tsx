// Pages in a file of their own, which is fetched when one of them is first shown.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorBox } from "../ui/bits";

type Pages = typeof import("./later");
let pages: Pages | null = null;

/** Fetches the file. A page that waits for it with its own data does not move when it arrives. */
export const fetched = (): Promise<void> => import("./later").then((found) => { pages = found; });

export function later<N extends keyof Pages>(name: N): ComponentType<Pages[N] extends (props: infer P) => unknown ? (unknown extends P ? {} : P) : {}> {
  return function Later(props: any) {
    const [failure, setFailure] = useState<unknown>(null);
    const [, again] = useState(0);
    const Page = pages?.[name] as ComponentType<any> | undefined;
    useEffect(() => { if (!Page) fetched().then(() => again((turn) => turn + 1), setFailure); }, []);
    if (failure) return <ErrorBox failure="This page could not be loaded." retry={() => location.reload()} />;
    return Page ? <Page {...props} /> : null;
  };
}
