// What the keys of an application were used for, what is left of their quotas, and why requests were refused.

import { get } from "../call";
import * as format from "../format";
import { Ago, Badge, Button, ErrorBox, Meter, Panel } from "../ui/bits";
import type { Loaded } from "../ui/loaded";
import { saveFile } from "../ui/save_file";
import { say } from "../ui/toast";
import type { Application, Key } from "./state";

interface Refusal { unix_s: number; api: string; method: string; path: string; status: number; cause: string; message: string }
export interface KeyUsage {
  id: string; tail: string; product: string; usage: { from_unix_s: number; requests: number; good: number }[];
  state: { is_suspended: boolean; ends_unix_s: number; rate: number; per_s: number; quota_max: number; quota_remaining: number; quota_renews_unix_s: number } | null; refusals: Refusal[];
}

/** What is known of an application's keys. */
export interface Used { keys: KeyUsage[]; /** Names of APIs whose requests are not recorded. */ unrecorded: string[] }

export const usagePath = (application: Application): string => `applications/${encodeURIComponent(application.id)}/usage`;

/** When a key ends: because its policy or an operator says so, or because another one has taken its place. 0 for never. */
export function endOf(key: Key, used: Used | null): number {
  const ends = [key.ends_unix_s, used?.keys.find((one) => one.id === key.id)?.state?.ends_unix_s ?? 0].filter((one) => one > 0);
  return ends.length > 0 ? Math.min(...ends) : 0;
}

export function Usage({ application, found }: { application: Application; found: Loaded<Used> }) {
  const path = usagePath(application);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  const keys = found.value?.keys;
  if (!keys?.length) return null;
  const refusals = keys.flatMap((key) => key.refusals.map((refusal) => ({ key, refusal })));
  const save = async () => {
    try {
      saveFile("usage.csv", await get<string>(`${path}.csv`));
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
        {found.value && found.value.unrecorded.length > 0 && <div class="body"><p>Requests to {found.value.unrecorded.join(", ")} are not recorded: they are missing here.</p></div>}
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
