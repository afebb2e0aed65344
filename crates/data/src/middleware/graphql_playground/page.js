"use strict";
const path = document.querySelector("meta[name=playground-path]").content;
const here = location.pathname.replace(/\/$/, "");
const endpoint = (here.endsWith(path) ? here.slice(0, here.length - path.length) : here) + "/";
const field = (id) => document.getElementById(id);

function headers() {
  const made = { "content-type": "application/json" };
  for (const line of field("headers").value.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) made[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return made;
}

async function send(query, variables) {
  const body = JSON.stringify(variables === undefined ? { query } : { query, variables });
  const response = await fetch(endpoint, { method: "POST", headers: headers(), body });
  const text = await response.text();
  try {
    return { status: response.status, json: JSON.parse(text) };
  } catch {
    return { status: response.status, text };
  }
}

async function run() {
  field("status").textContent = "…";
  const began = performance.now();
  try {
    const written = field("variables").value.trim();
    const answer = await send(field("query").value, written ? JSON.parse(written) : undefined);
    field("result").textContent = answer.json ? JSON.stringify(answer.json, null, 2) : answer.text;
    field("status").textContent = `${answer.status} in ${Math.round(performance.now() - began)} ms`;
  } catch (error) {
    field("result").textContent = String(error);
    field("status").textContent = "not sent";
  }
}

const TYPE = "kind name ofType { kind name ofType { kind name ofType { kind name } } }";
const SCHEMA = `{ __schema { queryType { name } mutationType { name } subscriptionType { name }
  types { kind name fields { name args { name type { ${TYPE} } } type { ${TYPE} } } } } }`;

function typeText(type) {
  if (type.kind === "NON_NULL") return typeText(type.ofType) + "!";
  return type.kind === "LIST" ? `[${typeText(type.ofType)}]` : type.name;
}

async function showSchema() {
  const list = document.querySelector("#schema ul");
  if (!field("schema").open || list.childElementCount) return;
  const line = (text) => list.append(Object.assign(document.createElement("li"), { textContent: text }));
  try {
    const { json } = await send(SCHEMA);
    if (!json?.data) return line(json?.errors?.[0]?.message ?? json?.error ?? "The schema is not shown.");
    const roots = ["queryType", "mutationType", "subscriptionType"].map((root) => json.data.__schema[root]?.name);
    const types = json.data.__schema.types.filter((type) => type.fields && !type.name.startsWith("__"));
    types.sort((one, other) => roots.includes(other.name) - roots.includes(one.name) || one.name.localeCompare(other.name));
    for (const type of types) {
      line(`type ${type.name}`);
      for (const { name, args, type: of } of type.fields) {
        const written = args.map((arg) => `${arg.name}: ${typeText(arg.type)}`).join(", ");
        line(`  ${name}${written ? `(${written})` : ""}: ${typeText(of)}`);
      }
    }
  } catch (error) {
    line(String(error));
  }
}

field("run").addEventListener("click", run);
field("schema").addEventListener("toggle", showSchema);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
