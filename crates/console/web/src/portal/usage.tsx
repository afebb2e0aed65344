// What the keys of an application were used for, what is left of their quotas, and why requests were refused.

import { get } from "../call";
import * as format from "../format";
import { Ago, Badge, Button, ErrorBox, Meter, Panel } from "../ui/bits";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";
import type { Application } from "./state";

interface Refusal { unix_s: number; api: string; method: string; path: string; status: number; cause: string; message: string }
interface KeyUsage {
  id: string; tail: string; product: string; usage: { from_unix_s: number; requests: number; good: number }[];
  state: { is_suspended: boolean; ends_unix_s: number; rate: number; per_s: number; quota_max: number; quota_remaining: number; quota_renews_unix_s: number } | null; refusals: Refusal[];
}

export function Usage({ application }: { application: Application }) {
  const path = `applications/${encodeURIComponent(application.id)}/usage`;
  const found = useLoaded(() => get<{ keys: KeyUsage[] }>(path), [application]);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  const keys = found.value?.keys;
  if (!keys) return null;
  const refusals = keys.flatMap((key) => key.refusals.map((refusal) => ({ key, refusal })));
  const save = async () => {
    try {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([await get<string>(`${path}.csv`)], { type: "text/csv" }));
      link.download = "usage.csv";
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (failure) { say("bad", (failure as Error).message); }
  };
  const requests = (key: KeyUsage) => key.usage.reduce((sum, row) => sum + row.requests, 0);
  const good = (key: KeyUsage) => key.usage.reduce((sum, row) => sum + row.good, 0);
  return (
    <>
      <Panel title="Usage" note="last 30 days" actions={<><Button icon="refresh" kind="quiet" aria-label="Refresh" onClick={found.again} /><Button icon="download" onClick={() => void save()}>CSV</Button></>}>
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Usage of keys"><table class="plain">
          <thead><tr><th scope="col">Key</th><th scope="col">Product</th><th scope="col" class="number">Requests</th><th scope="col" class="number">Failed</th><th scope="col" class="number">Rate</th><th scope="col">Quota</th></tr></thead>
          <tbody>{keys.map((key) => (
            <tr key={key.id}>
              <th scope="row"><code>…{key.tail}</code></th><td>{key.product}</td>
              <td class="number">{format.count(requests(key))}</td><td class="number">{format.count(requests(key) - good(key))}</td>
              <td class="number">{key.state && key.state.rate > 0 ? `${format.count(key.state.rate)} per ${key.state.per_s} s` : "no limit"}</td>
              <td>{!key.state ? <Badge tone="bad">gone</Badge> : key.state.is_suspended ? <Badge tone="bad">suspended</Badge> : key.state.quota_max > 0 ? <Meter used={key.state.quota_max - key.state.quota_remaining} max={key.state.quota_max} /> : "no limit"}</td>
            </tr>
          ))}</tbody>
        </table></div>
      </Panel>
      {refusals.length > 0 && (
        <Panel title="Refused and failed requests">
          <div class="scroll-x" tabIndex={0} role="region" aria-label="Refused requests"><table class="plain">
            <thead><tr><th scope="col">When</th><th scope="col">Key</th><th scope="col">Request</th><th scope="col">Status</th><th scope="col">Why</th></tr></thead>
            <tbody>{refusals.map(({ key, refusal }, index) => (
              <tr key={index}><td><Ago at={refusal.unix_s} /></td><td><code>…{key.tail}</code></td><td><code>{refusal.method} {refusal.path}</code></td><td>{refusal.status || "none"}</td><td>{refusal.message || refusal.cause}</td></tr>
            ))}</tbody>
          </table></div>
        </Panel>
      )}
    </>
  );
}
