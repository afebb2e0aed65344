// The operations of an OpenAPI document, by the tags under which it has them.

import { type Json, MEMBERS_MAX, list, members, object, resolved, text } from "./reference";

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];
/** Operations that are shown. */
const OPERATIONS_MAX = 500;
/** Characters of a path, of a summary and of a name that are shown. */
const PATH_CHARS_MAX = 500;
const SUMMARY_CHARS_MAX = 300;
const NAME_CHARS_MAX = 100;

export interface Operation { /** Its method and path, as links name it. */ place: string; method: string; path: string; value: Record<string, Json>; parameters: Json[] }
/** Operations with the same first tag; `name` is empty for those without one. */
export interface Tag { name: string; description: string; operations: Operation[] }

/** Operations of paths, or of webhooks, whose names stand in the place of paths. */
export function operationsOf(document: Json, paths: Json): Operation[] {
  const found: Operation[] = [];
  for (const [path, given] of Object.entries(object(paths))) {
    if (path.length > PATH_CHARS_MAX) continue;
    const item = object(resolved(document, given));
    for (const method of METHODS) {
      const value = item[method];
      if (found.length >= OPERATIONS_MAX) return found;
      if (value && typeof value === "object" && !Array.isArray(value)) found.push({ place: `${method} ${path}`, method, path, value, parameters: parametersOf(document, path, item, value) });
    }
  }
  return found;
}

/** Parameters of an operation: its own take the place of those of its path, and what a path has in braces is one. */
function parametersOf(document: Json, path: string, item: Json, value: Json): Json[] {
  const found = new Map<string, Json>();
  for (const one of [...list(item.parameters).slice(0, MEMBERS_MAX), ...list(value.parameters).slice(0, MEMBERS_MAX)]) {
    const at = object(resolved(document, one));
    found.set(`${text(at.in)} ${text(at.name)}`, at);
  }
  for (const [, name = ""] of path.matchAll(/\{([^{}]+)\}/g)) if (!found.has(`path ${name}`)) found.set(`path ${name}`, { name, in: "path", required: true, schema: { type: "string" } });
  return [...found.values()].slice(0, MEMBERS_MAX);
}

export function tagsOf(document: Json, operations: Operation[]): Tag[] {
  const tags = new Map<string, Tag>();
  for (const one of list(document.tags).slice(0, MEMBERS_MAX)) tags.set(nameOf(one?.name), { name: nameOf(one?.name), description: text(one?.description), operations: [] });
  for (const operation of operations) {
    const name = nameOf(list(operation.value.tags)[0]);
    const tag = tags.get(name) ?? { name, description: "", operations: [] };
    tag.operations.push(operation);
    tags.set(name, tag);
  }
  return [...tags.values()].filter((tag) => tag.operations.length > 0);
}

const nameOf = (value: Json): string => text(value).slice(0, NAME_CHARS_MAX);

export function summaryOf(value: Json): string { return text(value.summary).slice(0, SUMMARY_CHARS_MAX); }

/** Whether an operation has all of these words. */
export function has({ method, path, value }: Operation, words: string[]): boolean {
  const all = [method, path, summaryOf(value), nameOf(value.operationId), ...list(value.tags).slice(0, MEMBERS_MAX).map(nameOf)].join(" ").toLowerCase();
  return words.every((word) => all.includes(word));
}

/** What a caller needs, in words: alternatives, each of one or more schemes. */
export function securityOf(document: Json, operation: Operation): string[] {
  const needs = list(operation.value.security ?? document.security).slice(0, MEMBERS_MAX);
  return needs.map((one) => members(one).map(([name, scopes]) => {
    const scheme = object(resolved(document, object(object(document.components).securitySchemes)[name]));
    const how = { apiKey: `key in ${text(scheme.in)} ${text(scheme.name)}`, http: text(scheme.scheme), oauth2: "OAuth 2.0", openIdConnect: "OpenID Connect", mutualTLS: "client certificate" }[text(scheme.type)];
    const wanted = list(scopes).slice(0, MEMBERS_MAX).map(text).join(", ");
    return `${name}${how ? ` (${how})` : ""}${wanted && `, scopes ${wanted}`}`;
  }).join(" and ") || "nothing");
}
