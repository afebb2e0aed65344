// What an MCP server offers: a tool, prompt, resource or template of resources; and text that its server wrote.

import * as format from "../format";
import { Text } from "../ui/bits";

export type Kind = "tool" | "prompt" | "resource" | "template" | "method";
export interface Primitive {
  id: string; kind: Kind; name: string; own_name: string; server: string; title: string; description: string;
  digest: string; pin: string; withheld: string; changed: boolean; state: "changed" | "hidden" | "shown"; entry?: any;
}

/** Something that is not in a list of the gateway. */
export function row(kind: Kind, name: string, entry: any): Primitive {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { id: `${kind}:${name}`, kind, name, own_name: name, server: "", title: text(entry.title), description: text(entry.description), digest: "", pin: "", withheld: "", changed: false, state: "shown", entry: Object.keys(entry).length ? entry : undefined };
}

/** Text of several lines from outside. */
export function Lines({ children }: { children: string }) { return <>{children.split("\n").map((line, at) => <>{at > 0 && <br />}<Text>{line}</Text></>)}</>; }
export const pretty = (value: unknown): string => (JSON.stringify(value, null, 2) ?? "").split("\n").map(format.visible).join("\n");
