// Who is signed in at the portal, and what it offers.

import { signal } from "@preact/signals";
import { call, ended, get } from "../call";

export interface Facts { name: string; gateway_url: string; has_logo: boolean; signs_up: boolean; domains: string[]; has_mail: boolean; /** Whether pages may call APIs. */ try_it: boolean; providers: { name: string; title: string }[] }
export interface Developer { id: string; mail: string; name: string; teams: string[]; has_password: boolean }
interface State { portal: Facts; developer: Developer | null }

export interface Api { id: string; name: string; listen_path: string; host: string; key_header: string; token_path: string; kind: string }
/** Amounts are decimals as texts. */
export interface Price { currency: string; per_month: string; per_call: string; free_calls: number }
export interface Plan { id: string; name: string; summary: string; is_automatic: boolean; price: Price | null }
export interface Product { id: string; name: string; summary: string; description?: string; apis: Api[]; plans: Plan[] }
export interface Page { id: string; title: string; text: string }
export interface Key { id: string; tail: string; created_unix_s: number; ends_unix_s: number }
export interface Grant { id: string; product: string; plan: string; state: "requested" | "approved" | "rejected" | "suspended"; asked_unix_s: number; reason: string; answer: string; keys: Key[] }
export interface Application { id: string; team: string; name: string; created_unix_s: number; grants: Grant[] }
export interface Team { id: string; name: string; role: "owner" | "member"; members: { id: string; mail: string; name: string; role: string }[] }

export const facts = signal<Facts | null>(null);
export const developer = signal<Developer | null>(null);
/** Keys that were made since the portal was opened: nobody else has them, and they are nowhere else. */
export interface OwnKey { id: string; key: string; tail: string; product: string; application: string }
export const ownKeys = signal<OwnKey[]>([]);
/** Tools that servers have told to this visitor since the portal was opened: what a plan does not allow is not among them. */
export interface ToldTools { product: string; api: Api; tools: { name: string; title: string; description: string; schema: unknown }[]; more: boolean }
export const toldTools = signal<ToldTools[]>([]);
export const silent = signal<string | null>(null);
/** The titles in the navigation. */
export const pages = signal<Page[]>([]);

export async function load(): Promise<void> {
  try {
    enter(await get<State>("session"));
  } catch (failure) {
    silent.value = (failure as Error).message;
  }
}

export function enter(state: State): void {
  silent.value = null;
  ended.value = false;
  facts.value = state.portal;
  if (state.developer?.id !== developer.value?.id) { ownKeys.value = []; toldTools.value = []; }
  developer.value = state.developer;
  void get<{ pages: Page[] }>("pages").then((found) => { pages.value = found.pages; }, () => {});
}

/** Signs out, at the provider too if the portal says where. */
export async function signOut(): Promise<void> {
  let place: string | null = null;
  try { place = (await call<{ go_to: string | null }>("DELETE", "session")).go_to; } finally {
    if (place) location.assign(place); else { location.hash = "#/"; location.reload(); }
  }
}

/** URL under which an API is called. */
export function base(api: Api): string {
  const gateway = new URL(facts.value?.gateway_url ?? location.origin);
  if (api.host) gateway.hostname = api.host;
  return gateway.origin + api.listen_path.replace(/\/*$/, "/");
}
