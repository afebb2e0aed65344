// Invoices of a team at the developer portal, as it sees them and as operators do. Amounts are texts: they are exact, and nothing computes with them.

import { useState } from "preact/hooks";
import { get } from "../call";
import * as format from "../format";
import { Button, Empty, ErrorBox, Text } from "./bits";
import { useLoaded } from "./loaded";
import { saveFile } from "./save_file";
import { say } from "./toast";

export interface InvoiceLine { application: string; application_id: string; product: string; plan: string; calls: number; free_calls: number; per_call: string; per_month: string; sum: string; currency: string }
export interface Invoice { month: string; counted_unix_s: number; lines: InvoiceLine[]; sums: Record<string, string> }

const named = new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric", timeZone: "UTC" });
const monthName = (month: string): string => named.format(new Date(`${month}-01T00:00:00Z`));

/** The present month, in UTC. */
export const thisMonth = (): string => new Date().toISOString().slice(0, 7);

/** Invoices of a team; the latest one is open. `csv` is where the file of a month is. */
export function Invoices({ months, invoice, csv }: { months: () => Promise<string[]>; invoice: (month: string) => Promise<Invoice>; csv: (month: string) => string }) {
  const all = useLoaded(months, []);
  const [chosen, setChosen] = useState("");
  const month = chosen || all.value?.[0] || "";
  const found = useLoaded(() => (month ? invoice(month) : Promise.resolve(null)), [month]);
  if (all.failure) return <div class="body"><ErrorBox failure={all.failure} retry={all.again} /></div>;
  if (all.value?.length === 0) return <Empty title="There are no invoices yet">They begin with the first plan that has a price.</Empty>;
  const save = async () => {
    try { saveFile(`invoice-${month}.csv`, await get<string>(csv(month))); } catch (failure) { say("bad", (failure as Error).message); }
  };
  return (
    <>
      <div class="body row low">
        <label class="row">Month <select value={month} onChange={(event) => setChosen(event.currentTarget.value)}>{all.value?.map((one) => <option key={one} value={one}>{monthName(one)}</option>)}</select></label>
        <Button icon="download" disabled={!found.value} onClick={() => void save()}>CSV</Button>
      </div>
      {found.failure ? <div class="body"><ErrorBox failure={found.failure} retry={found.again} /></div> : null}
      {found.value && <InvoiceLines invoice={found.value} />}
    </>
  );
}

export function InvoiceLines({ invoice }: { invoice: Invoice }) {
  const sums = Object.entries(invoice.sums);
  return (
    <>
      <div class="scroll-x invoice" tabIndex={0} role="region" aria-label={`Invoice of ${monthName(invoice.month)}`}><table class="plain">
        <thead><tr><th scope="col">Application</th><th scope="col">Product</th><th scope="col">Plan</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Free</th><th scope="col" class="number">A call</th><th scope="col" class="number">A month</th><th scope="col" class="number">Sum</th></tr></thead>
        <tbody>{invoice.lines.map((line, index) => (
          <tr key={index}><th scope="row"><Text>{line.application}</Text></th><td><Text>{line.product}</Text></td><td><Text>{line.plan}</Text></td><td class="number">{format.count(line.calls)}</td><td class="number">{format.count(line.free_calls)}</td><td class="number">{line.per_call}</td><td class="number">{line.per_month}</td><td class="number">{line.sum} {line.currency}</td></tr>
        ))}</tbody>
        {invoice.lines.length > 1 && <tfoot>{sums.map(([currency, sum]) => <tr key={currency}><th scope="row" colSpan={7}>Together</th><td class="number"><strong>{sum} {currency}</strong></td></tr>)}</tfoot>}
      </table></div>
      <div class="body"><small>Calls with a status below 400, until {invoice.counted_unix_s > 0 ? format.full(invoice.counted_unix_s) : "now"}. Months are those of UTC.</small></div>
    </>
  );
}
