// What a request to a language model took, as all pages show it.

import * as format from "../format";
import type { Tone } from "../ui/bits";

export interface TailLlm {
  operation: string; team?: string; model: string; provider: string; provider_model: string; outcome: string; reason: string; finish: string; budget: string;
  input_tokens: number; output_tokens: number; cached_tokens: number; reasoning_tokens: number; cost_usd: number; estimated: boolean; first_token_ms: number | null; tokens_per_s: number | null;
  attempts: { provider: string; model: string; outcome: string; reason: string; took_ms: number }[];
}

const OUTCOMES: Record<string, [Tone, string]> = {
  ok: ["ok", "answered"], cached: ["ok", "from the cache"], guarded: ["warn", "refused by a guard"], refused: ["warn", "refused by the provider"], rate_limited: ["warn", "too many requests"], failed: ["bad", "failed"], broken: ["bad", "broke off"], client_left: ["muted", "client left"],
  cut: ["warn", "cut by a budget"], no_budget: ["warn", "no budget left"], unsupported: ["warn", "not supported"], unknown_model: ["warn", "unknown model"], skipped: ["muted", "passed over"],
};
export const outcome = (name: string): [Tone, string] => OUTCOMES[name] ?? ["muted", name.replaceAll("_", " ")];

/** US dollars: two digits, or enough to see a small sum. */
export function usd(value: number | null | undefined): string {
  if (value == null) return format.UNKNOWN;
  if (value === 0) return "$0";
  if (value < 0.0001) return "<$0.0001";
  if (value < 1) return `$${Number(value.toPrecision(2))}`;
  return `$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
