// Builds the one script of the explorer: `npm ci && npm run build`. It also writes the hashes of its sources and the licences of its libraries.

import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const OUT = "../gest_dataset/report/explorer/built.js";
const sha256 = (content) => createHash("sha256").update(content).digest("hex");
const sources = ["package.json", "package-lock.json", "tsconfig.json", "build.mjs",
  ...(await readdir("src")).filter((name) => name.endsWith(".ts")).sort().map((name) => `src/${name}`)];

const { metafile } = await build({
  entryPoints: ["src/main.ts"],
  outfile: OUT,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none", // licences have their own file
  metafile: true,
});

const [{ inputs }] = Object.values(metafile.outputs);
const used = new Set(Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0)
  .flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
const notices = [];
for (const name of [...used].sort()) {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
  const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  notices.push(`${name} ${version} (${license})\n\n${(await readFile(`${folder}/${file}`, "utf8")).trim()}\n`);
}
await writeFile("../gest_dataset/report/explorer/licences.txt", notices.join(`\n${"-".repeat(78)}\n\n`));

const digests = {};
for (const name of sources) digests[name] = sha256(await readFile(name));
const record = { built: sha256(await readFile(OUT)), sources: digests };
await writeFile("../gest_dataset/report/explorer/built.json", `${JSON.stringify(record, null, 1)}\n`);
