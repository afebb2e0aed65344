// Numbers, times and texts as the console writes them: "0" is none, "-" unknown; two digits of a percentile with "~", because it comes
// from buckets; times local with their offset, or UTC.

import { signal } from "@preact/signals";

export const UNKNOWN = "-";
export const utc = signal(localStorage.getItem("utc") === "yes");
utc.subscribe((yes) => localStorage.setItem("utc", yes ? "yes" : "no"));

export type Number0 = number | null | undefined;

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(value: Number0): string { return value == null ? UNKNOWN : grouped.format(value); }

/** A rate per second: 0, 0.04, 3.2, 47, 1,234. */
export function rate(value: Number0): string {
  if (value == null) return UNKNOWN;
  if (value === 0) return "0";
  if (value < 0.01) return "<0.01";
  if (value < 1) return value.toFixed(2);
  if (value < 10) return value.toFixed(1);
  return grouped.format(value);
}

/** A share of 1 as percent. */
export function percent(value: Number0): string {
  if (value == null) return UNKNOWN;
  if (value === 0) return "0 %";
  if (value < 0.001) return "<0.1 %";
  return `${value < 0.1 ? (value * 100).toFixed(1) : Math.round(value * 100)} %`;
}

/** A duration with at most three digits and its unit. */
export function duration(us: Number0): string {
  if (us == null) return UNKNOWN;
  if (us === 0) return "0";
  if (us < 1) return `${Math.round(us * 1000)} ns`;
  if (us < 1000) return `${digits(us)} us`;
  if (us < 1e6) return `${digits(us / 1000)} ms`;
  if (us < 6e7) return `${digits(us / 1e6)} s`;
  return span(us / 1e6);
}

/** A percentile from buckets; `end` is the last bound, beyond which nothing is known. */
export function percentile(us: Number0, end: number): string {
  if (us == null) return UNKNOWN;
  if (us >= end) return `> ${duration(end)}`;
  const two = us <= 0 ? 0 : Number(us.toPrecision(2));
  return `~${duration(two)}`;
}

function digits(value: number): string {
  if (value >= 99.5) return grouped.format(value);
  return String(Number(value.toPrecision(value >= 9.95 ? 2 : 2)));
}

export function bytes(value: Number0): string {
  if (value == null) return UNKNOWN;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0, rest = value;
  while (rest >= 1024 && at < units.length - 1) { rest /= 1024; at += 1; }
  return `${at && rest < 10 ? rest.toFixed(1) : Math.round(rest)} ${units[at]}`;
}

/** Seconds as the two largest units: 3 d 4 h, 5 min 2 s. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts: [number, string][] = [[Math.floor(whole / 86400), "d"], [Math.floor(whole / 3600) % 24, "h"], [Math.floor(whole / 60) % 60, "min"], [whole % 60, "s"]];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return "0 s";
  return parts.slice(first, first + (first === 0 && parts[0]![0] > 9 ? 1 : 2)).filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount} ${unit}`).join(" ");
}

const two = (value: number): string => String(value).padStart(2, "0");

function parts(unixS: number) {
  const date = new Date(unixS * 1000);
  return utc.value
    ? { y: date.getUTCFullYear(), mo: date.getUTCMonth() + 1, d: date.getUTCDate(), h: date.getUTCHours(), mi: date.getUTCMinutes(), s: date.getUTCSeconds() }
    : { y: date.getFullYear(), mo: date.getMonth() + 1, d: date.getDate(), h: date.getHours(), mi: date.getMinutes(), s: date.getSeconds() };
}

/** "+01:00", or "UTC". */
export function offset(unixS: number = Date.now() / 1000): string {
  if (utc.value) return "UTC";
  const minutes = -new Date(unixS * 1000).getTimezoneOffset();
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

export function clock(unixS: Number0, seconds = false): string {
  if (unixS == null || !Number.isFinite(unixS)) return UNKNOWN;
  const { h, mi, s } = parts(unixS);
  return `${two(h)}:${two(mi)}${seconds ? `:${two(s)}` : ""}`;
}

export function date(unixS: Number0): string {
  if (unixS == null || !Number.isFinite(unixS)) return UNKNOWN;
  const { y, mo, d } = parts(unixS);
  return `${y}-${two(mo)}-${two(d)}`;
}

/** Date, time and offset; only the time if it is today. */
export function moment(unixS: Number0, seconds = false): string {
  if (unixS == null) return UNKNOWN;
  const today = date(Date.now() / 1000) === date(unixS);
  return today ? clock(unixS, true) : `${date(unixS)} ${clock(unixS, seconds)}`;
}

export function full(unixS: Number0): string { return unixS == null || !Number.isFinite(unixS) ? UNKNOWN : `${date(unixS)} ${clock(unixS, true)} ${offset(unixS)}`; }

/** How long ago: "4 s ago", "in 3 d". */
export function ago(unixS: Number0): string {
  if (unixS == null) return UNKNOWN;
  const seconds = Date.now() / 1000 - unixS;
  if (Math.abs(seconds) < 1) return "now";
  const text = span(Math.abs(seconds)).split(" ").slice(0, 2).join(" ");
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

/** A text of a client with control and bidirectional characters made visible, so that it can't reorder or hide what is around it. */
export function visible(text: unknown): string {
  return String(text ?? "").replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g,
    (character) => `\u27e8${character.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}\u27e9`);
}

/** One cell of a CSV file: quoted, and defused where a spreadsheet would calculate. */
export function cell(value: unknown): string {
  const text = String(value ?? "");
  const defused = typeof value !== "number" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(defused) || defused !== text ? `"${defused.replaceAll('"', '""')}"` : defused;
}

/** Text for a POSIX shell as one word. */
export function shell(text: string): string { return `'${text.replaceAll("'", "'\\''")}'`; }
