// The tools of an MCP server, as the server tells them to a caller with this key: what the plan does not allow is not among them. They stay while the
// portal is open, for a search. Whatever a server says is hostile input: it is text, and everything has a bound.

import type { Signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { ANSWER_BYTES, McpClient, type Reply, type Transport } from "../mcp_client";
import { route } from "../route";
import { Button, ErrorBox, Note, Panel, Text } from "../ui/bits";
import { type Caller, KeyField, keyOf } from "./caller";
import { ANSWER_MS_MAX, beginning, keyHeaders, unreached } from "./request";
import { Folded, Schema } from "./schema";
import { base, toldTools, type Api, type ToldTools } from "./state";

/** Servers whose tools are kept besides the one that was asked. */
const SERVERS_MAX = 20;
/** Tools that are shown, and characters of what is said of one. */
const TOOLS_MAX = 200;
const TEXT_MAX = 4000;
/** Statuses with which the gateway refuses a caller. */
const REFUSALS = [401, 403, 429];

type Tool = ToldTools["tools"][number];

export function Tools({ api, caller }: { api: Api; caller: Signal<Caller> }) {
  const { product } = caller.value;
  const told = toldTools.value.find((one) => one.product === product && one.api.id === api.id) ?? null;
  const wanted = route.value.query.get("tool");
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const list = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    const others = toldTools.value.filter((one) => one !== told).slice(-SERVERS_MAX);
    toldTools.value = others;
    const client = new McpClient(toApi(api, keyOf(caller.value)));
    try {
      const found = await client.list("tools/list", "tools");
      toldTools.value = [...others, { product, api, tools: found.slice(0, TOOLS_MAX).map(tool), more: found.length > TOOLS_MAX }];
    } catch (failed) {
      setFailure((failed as Error).message);
    } finally {
      client.end();
      setBusy(false);
    }
  };
  return (
    <Panel title="Tools">
      <form class="body row" onSubmit={(event) => void list(event)}>
        <KeyField api={api} caller={caller} />
        <Button type="submit" kind="primary" disabled={busy}>List its tools</Button>
      </form>
      <div class="body stack" role="status">
        {failure !== null && <ErrorBox failure={failure} />}
        {told?.tools.length === 0 && <p>It offers no tools to this caller.</p>}
        {told?.more && <Note tone="warn" icon="alert">The first {TOOLS_MAX} tools are shown.</Note>}
        {told?.tools.map((one, index) => (
          <Folded key={index} isWanted={one.name === wanted} title={<><code><Text>{one.name}</Text></code> <Text>{one.title}</Text></>}>
            {() => <><p class="as-written">{one.description}</p><Schema document={one.schema} schema={one.schema} /></>}
          </Folded>
        ))}
      </div>
    </Panel>
  );
}

function tool(value: any): Tool {
  const text = (one: unknown): string => (typeof one === "string" ? one.slice(0, TEXT_MAX) : "");
  return { name: text(value.name), title: text(value.title), description: text(value.description), schema: value.inputSchema };
}

/** Requests to the API itself, without cookies. */
function toApi(api: Api, key: string): Transport<Reply> {
  return async (method, body, lines) => {
    const headers = { ...lines, ...Object.fromEntries(keyHeaders(api, key)) };
    let response: Response;
    try {
      response = await fetch(base(api), { method, headers, ...(body && { body }), credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    } catch {
      throw new Error(unreached(base(api)));
    }
    const { text, isCut } = await beginning(response, ANSWER_BYTES);
    if (REFUSALS.includes(response.status)) throw new Error(`The gateway answered with status ${response.status}: ${reason(text)}`);
    return { status: response.status, headers: [...response.headers], body: text, body_truncated: isCut, steps: [], upstream: { status: response.status } };
  };
}

/** What an error says, if it says something. */
function reason(body: string): string {
  try {
    const said = JSON.parse(body);
    const text = said.error?.message ?? said.error ?? said.message;
    if (typeof text === "string") return text.slice(0, 300);
  } catch { /* no JSON */ }
  return "it says no reason.";
}
