// An identity provider that knows one client, and an official client of the Model Context Protocol that registers at the gateway in front of it.
// Usage: node mcp_authorization.mjs provider PACKAGES PORT CALLBACK
//        node mcp_authorization.mjs client PACKAGES URL
import { createRequire } from "node:module";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";

const [what, packages, place, callback] = process.argv.slice(2);

async function serve() {
  const loaded = await import(pathToFileURL(createRequire(`${packages}/`).resolve("oidc-provider")));
  const Provider = loaded.Provider ?? loaded.default;
  const key = { ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig" };
  const audience = "urn:tools";
  const client = {
    client_id: "the-gateway",
    client_secret: "the secret of the gateway & more",
    redirect_uris: [callback],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: process.env.AUTH_METHOD ?? "client_secret_basic",
  };
  const provider = new Provider(`http://127.0.0.1:${place}`, {
    jwks: { keys: [key] },
    clients: [client],
    cookies: { keys: [randomUUID()] },
    issueRefreshToken: async () => true,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    ttl: { AccessToken: 600, Interaction: 600, Session: 600, Grant: 600, RefreshToken: 600, IdToken: 600 },
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: "read write", audience, accessTokenFormat: "jwt", accessTokenTTL: 600 }),
      },
    },
  });
  const server = provider.listen(Number(place), "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  console.log("ready");
}

async function use() {
  const load = (path) => import(pathToFileURL(join(packages, "node_modules/@modelcontextprotocol/sdk/dist/esm", path)));
  const { Client } = await load("client/index.js");
  const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
  const { UnauthorizedError } = await load("client/auth.js");
  const kept = {};
  const browser = new Browser();
  const authProvider = {
    redirectUrl: "http://127.0.0.1:7777/back",
    clientMetadata: { client_name: "A judge", redirect_uris: ["http://127.0.0.1:7777/back"], grant_types: ["authorization_code", "refresh_token"] },
    state: () => "the client's own state & more",
    clientInformation: () => kept.client,
    saveClientInformation: (client) => { kept.client = client; },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    redirectToAuthorization: (url) => { kept.url = url; },
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    codeVerifier: () => kept.verifier,
  };
  const transport = () => new StreamableHTTPClientTransport(new URL(place), { authProvider });
  const first = transport();
  const refused = await new Client({ name: "judge", version: "1" }).connect(first).then(() => undefined, (error) => error);
  if (!(refused instanceof UnauthorizedError)) throw new Error(`not refused: ${refused}`);
  const end = await browser.signIn(kept.url, "ada", (url) => url.port === "7777");
  await first.finishAuth(end.searchParams.get("code"));
  const tools = async () => {
    const client = new Client({ name: "judge", version: "1" });
    await client.connect(transport());
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    const said = (await client.callTool({ name: names[0], arguments: {} })).content[0].text;
    await client.close();
    return [names, said];
  };
  const before = kept.tokens;
  const [names, said] = await tools();
  kept.tokens = { ...before, access_token: "none" };
  await tools();
  console.log(JSON.stringify({
    names, said, client: kept.client, tokens: Object.keys(before).sort(), url: kept.url.href, end: end.href,
    refreshed: kept.tokens.access_token !== "none" && kept.tokens.access_token !== before.access_token,
    refresh: kept.tokens.refresh_token, verifier: kept.verifier,
  }));
}

await (what === "provider" ? serve() : use());
