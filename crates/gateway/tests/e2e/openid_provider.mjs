// An OpenID provider for tests: `node provider.mjs DIRECTORY PORT KEYS`. Makes new signing keys, in front of those that the file KEYS has, and
// keeps them there; signs one user in at each client, and prints the tokens as one line of JSON. Serves until it is ended.
import { createRequire } from "node:module";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";

const [directory, port, keysFile] = process.argv.slice(2);
const entry = createRequire(`${directory}/`).resolve("oidc-provider");
const loaded = await import(pathToFileURL(entry));
const Provider = loaded.Provider ?? loaded.default;
const issuer = `http://127.0.0.1:${port}`;
const redirectUri = "http://127.0.0.1/callback";
const resource = "urn:orders";

const kinds = [
  ["RS256", "rsa", { modulusLength: 2048 }],
  ["ES256", "ec", { namedCurve: "P-256" }],
  ["EdDSA", "ed25519", {}],
];
const made = kinds.map(([, kind, options]) => ({
  ...generateKeyPairSync(kind, options).privateKey.export({ format: "jwk" }),
  kid: randomUUID(),
  use: "sig",
}));
const kept = existsSync(keysFile) ? JSON.parse(readFileSync(keysFile)) : [];
const keys = [...made, ...kept];
writeFileSync(keysFile, JSON.stringify(keys));

const client = (id, algorithm) => ({
  client_id: id,
  client_secret: "the secret of a client in a test",
  redirect_uris: [redirectUri],
  response_types: ["code"],
  grant_types: ["authorization_code", "client_credentials"],
  id_token_signed_response_alg: algorithm,
});

const provider = new Provider(issuer, {
  jwks: { keys },
  clients: [client("shop", "RS256"), client("till", "ES256"), client("app", "EdDSA"), client("kiosk", "PS256")],
  enabledJWA: { idTokenSigningAlgValues: ["RS256", "PS256", "ES256", "EdDSA"] },
  cookies: { keys: [randomUUID()] },
  pkce: { required: () => false },
  ttl: { IdToken: 600, ClientCredentials: 600, AccessToken: 600, Interaction: 600, Session: 600, Grant: 600 },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  features: {
    devInteractions: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({ scope: "read write", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: 600 }),
    },
  },
});
const server = provider.listen(Number(port), "127.0.0.1");
await new Promise((done) => server.once("listening", done));

async function signIn(id, user) {
  const query = new URLSearchParams({ client_id: id, response_type: "code", redirect_uri: redirectUri, scope: "openid", nonce: randomUUID() });
  const end = await new Browser().signIn(new URL(`${issuer}/auth?${query}`), user, (url) => url.searchParams.has("code"));
  const code = end.searchParams.get("code");
  return (await token(id, { grant_type: "authorization_code", code, redirect_uri: redirectUri })).id_token;
}

async function token(id, form) {
  const authorization = `Basic ${Buffer.from(`${id}:the%20secret%20of%20a%20client%20in%20a%20test`).toString("base64")}`;
  const answer = await fetch(`${issuer}/token`, { method: "POST", body: new URLSearchParams(form), headers: { authorization } });
  const said = await answer.json();
  if (!answer.ok) throw new Error(JSON.stringify(said));
  return said;
}

const tokens = {};
for (const id of ["shop", "till", "app", "kiosk"]) tokens[id] = await signIn(id, "joe");
tokens.machine = (await token("shop", { grant_type: "client_credentials", scope: "read", resource })).access_token;
console.log(JSON.stringify({ issuer, tokens, kids: made.map((key) => key.kid) }));
