/**
 * Generates TypeScript types of the API from the OpenAPI documents in `contracts`, and writes them to the folder
 * `generated`, with a copy of the list of currencies, because the published package cannot import `contracts`. Runs
 * before each compilation, because these files are not committed. Writes a file only if its source or the generator has
 * changed.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const clientFolder = fileURLToPath(new URL(".", import.meta.url));
const contractsFolder = join(clientFolder, "..", "contracts");
const generatedFolder = join(clientFolder, "generated");

const documents = { "public-api.ts": "openapi.json", "full-api.ts": "openapi.full.json" };
const generatorPackage = readFileSync(
  createRequire(import.meta.url).resolve("openapi-typescript/package.json"),
  "utf8",
);
const generatorSource = readFileSync(fileURLToPath(import.meta.url), "utf8");

for (const [name, document] of Object.entries(documents)) {
  const source = readFileSync(join(contractsFolder, document), "utf8");
  const hash = createHash("sha256")
    .update(JSON.stringify([source, generatorPackage, generatorSource]))
    .digest("hex");
  const head = `// Generated from contracts/${document} by generate-types.mjs: ${hash}\n`;
  const file = join(generatedFolder, name);
  if (existsSync(file) && readFileSync(file, "utf8").startsWith(head)) continue;
  writeFileAtomically(file, `${head}\n${await generateTypes(JSON.parse(source))}`);
}

const currencySource = readFileSync(join(contractsFolder, "currency.ts"), "utf8");
const currencyCopy = join(generatedFolder, "currency.ts");
if (!existsSync(currencyCopy) || readFileSync(currencyCopy, "utf8") !== currencySource)
  writeFileAtomically(currencyCopy, currencySource);

/**
 * @param {import("openapi-typescript").OpenAPI3} document
 * @returns {Promise<string>} the types as TypeScript code
 */
async function generateTypes(document) {
  const { default: openapiTS, astToString } = await import("openapi-typescript");
  // By default, openapi-typescript would require fields that have a default value, but requests can omit such fields.
  return astToString(await openapiTS(document, { defaultNonNullable: false, silent: true }));
}

/**
 * Writes a file atomically, so that concurrent readers never read an incomplete file.
 * @param {string} file
 * @param {string} text
 */
function writeFileAtomically(file, text) {
  mkdirSync(generatedFolder, { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, file);
}
