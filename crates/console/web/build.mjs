// Builds ../dist from this folder, for the console, and ../dist/portal for the developer portal: bundles, styles, the page that names them with their
// hashes, the licences of what is bundled, and a sum over the sources, by which a test of the crate sees that dist is stale.
//
// Usage: build.mjs [FOLDER]    with a folder, the same files are built there, with their source maps; a release compares and packs them.

import { build, transform } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const web = dirname(fileURLToPath(import.meta.url));
const elsewhere = process.argv[2];
const dist = elsewhere ? resolve(elsewhere) : join(web, "../dist");
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Minifies libraries by themselves. */
const minifyLibraries = {
  name: "minify-libraries",
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/.*\.m?js$/ }, async ({ path }) => ({
      contents: (await transform(await readFile(path, "utf8"), { minify: true, format: "esm", target: "es2022", legalComments: "none" })).code, loader: "js",
    }));
  },
};
// What a first visit needs is console.js and the chunk that it shares with later.js.
// Identifiers of the application stay as written, so that the diff of a rebuilt file can be read; the editor is almost only libraries.
const shared = {
  bundle: true, format: "esm", target: ["chrome120", "firefox120", "safari17"], charset: "utf8", metafile: true,
  legalComments: "none", outdir: dist, absWorkingDir: web, logLevel: "warning", define: { "process.env.NODE_ENV": '"production"' },
  // In files of their own that nothing in a bundle names: the bundles are the same with and without maps.
  sourcemap: elsewhere ? "external" : false,
};
await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
const results = [
  await build({ ...shared, entryPoints: { console: "src/main.tsx" }, jsx: "automatic", jsxImportSource: "preact", external: ["./editor.js"], plugins: [minifyLibraries], splitting: true, chunkNames: "[name]",
    minifyWhitespace: true, minifySyntax: true, lineLimit: 160 }),
  await build({ ...shared, entryPoints: { editor: "src/editor/editor.ts" }, minify: true, lineLimit: 1000 }),
  await build({ ...shared, entryPoints: { console: "src/style/console.css" }, minify: true, lineLimit: 160 }),
];

const portal = join(dist, "portal");
const ofPortal = [
  await build({ ...shared, outdir: portal, entryPoints: { portal: "src/portal/main.tsx" }, jsx: "automatic", jsxImportSource: "preact", plugins: [minifyLibraries], splitting: true, chunkNames: "[name]",
    minifyWhitespace: true, minifySyntax: true, lineLimit: 160 }),
  await build({ ...shared, outdir: portal, entryPoints: { portal: "src/portal/portal.css" }, minify: true, lineLimit: 160 }),
];
await writePage("src/index.html", dist, ["console.js", "console.css"]);
await writePage("src/portal/index.html", portal, ["portal.js", "portal.css"]);
await writeFile(join(dist, "licences.txt"), await licences(results));
await writeFile(join(portal, "licences.txt"), await licences(ofPortal));
await writeFile(join(dist, "web.sha256"), `${sha256((await lines(web)).sort().join(""))}\n`);

/** The page, with the files that it names and their hashes. */
async function writePage(source, folder, names) {
  let page = await readFile(join(web, source), "utf8");
  for (const name of names) {
    const hash = sha256(await readFile(join(folder, name))).slice(0, 16);
    page = page.replace(`"${name}"`, `"${name}?v=${hash}"`);
  }
  await writeFile(join(folder, "index.html"), page);
}

/** The licences of the packages whose code is in these bundles. */
async function licences(results) {
  const packages = new Set();
  for (const input of results.flatMap((result) => Object.keys(result.metafile.inputs))) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) packages.add(found[1]);
  }
  const parts = [];
  for (const name of [...packages].sort()) {
    const folder = join(web, "node_modules", name);
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    parts.push(`${name} ${version}\n\n${(await readFile(join(folder, file), "utf8")).trim()}\n`);
  }
  return parts.join(`\n${"-".repeat(80)}\n\n`);
}

/** Path and sum of each source file. */
async function lines(folder) {
  const found = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await lines(path)));
    else found.push(`${relative(web, path)} ${sha256(await readFile(path))}\n`);
  }
  return found;
}
