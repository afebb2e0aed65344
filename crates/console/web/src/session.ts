// Who is signed in, what they may do, and what this gateway lets be changed.

import { signal } from "@preact/signals";
import { Failure, call, ended, get } from "./call";

export type Role = "viewer" | "editor" | "admin";
/** What someone reaches: APIs with one of these tags or of one of these organisations. */
export interface Scope { tags?: string[]; orgs?: string[] }
export interface Session {
  user: string; role: Role; scope?: Scope | null; by_secret: boolean; users: number | null; node: string; version: string; expires_unix_s: number;
  writable: { apis: boolean; policies: boolean }; secret_file: string | null; shared_definitions?: boolean;
  /** URL of the developer portal; null if there is none. */
  portal?: string | null;
}
/** What the sign-in page is told before anybody signs in. */
export interface Door {
  secret_file: string | null; users: boolean; insecure: boolean; ssh: string | null; version?: string;
  /** Providers at which operators sign in: what the button says, and where it leads. */
  providers?: [string, string][];
}

export const session = signal<Session | null>(null);
export const door = signal<Door | null>(null);
export const silent = signal<string | null>(null);

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2 };
export const may = (role: Role): boolean => RANK[session.value?.role ?? "viewer"] >= RANK[role];

/** Whether someone is signed in who reaches some APIs only: the whole gateway's calls are closed to them. */
export const isScoped = (): boolean => !!session.value?.scope;

/** Has the definitions read anew. A change is in service before; who has a scope cannot ask for more. */
export const reread = async (): Promise<void> => { if (!isScoped()) await get("reload?block=true"); };

/** A scope in words. */
export const scopeText = (scope?: Scope | null): string => [...(scope?.tags ?? []), ...(scope?.orgs ?? []).map((org) => `organisation ${org}`)].join(", ") || "everything";

export async function load(): Promise<void> {
  try {
    enter(await get<Session>("session"));
  } catch (failure) {
    session.value = null;
    if (failure instanceof Failure && failure.status === 401) door.value = failure.body;
    else silent.value = (failure as Error).message;
  }
}

export function enter(found: Session): void {
  silent.value = null;
  ended.value = false;
  session.value = found;
}

export async function signIn(body: { secret: string } | { user: string; password: string }): Promise<void> {
  enter(await call<Session>("POST", "session", body));
}

/** Signs out, at the provider too if the gateway says where. */
export async function signOut(): Promise<void> {
  let place: string | null = null;
  try { place = (await call<{ go_to: string | null }>("DELETE", "session")).go_to; } finally {
    if (place) location.assign(place); else location.reload();
  }
}
