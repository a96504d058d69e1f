import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBrunoCollection } from "./bruno-collection.mjs";
import { createPostmanCollection } from "./postman-collection.mjs";

const repositoryFolder = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const clientFolder = join(repositoryFolder, "client");

/** The files outside the folder of the site from which the downloads are made. */
export const downloadSourcePaths = [
  ...["index", "api-client", "api-problem", "retrying-fetch", "verify-webhook"].map((name) => `${name}.ts`),
  ...["generate-types.mjs", "package.json", "tsconfig.json", "README.md"],
].map((name) => join(clientFolder, name));

/**
 * Writes the files that the site offers for download: the collections for Postman and Bruno, and the packed client.
 * @param {string} folder
 * @param {string} openapi the path of the OpenAPI document
 */
export function writeDownloads(folder, openapi) {
  mkdirSync(folder, { recursive: true });
  const document = JSON.parse(readFileSync(openapi, "utf8"));
  const collections = {
    "pragma-api.postman_collection.json": createPostmanCollection(document),
    "pragma-api.bruno_collection.json": createBrunoCollection(document),
  };
  for (const [name, collection] of Object.entries(collections))
    writeFileSync(join(folder, name), `${JSON.stringify(collection, null, 2)}\n`);
  packClient(folder);
}

/**
 * Compiles the client, and packs it into the folder.
 * @param {string} folder
 */
function packClient(folder) {
  const compiler = join(repositoryFolder, "node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, [join(clientFolder, "generate-types.mjs")], { stdio: "inherit" });
  // `npm start` has not installed the packages of the client's tests, whose types `npm run check` checks.
  execFileSync(process.execPath, [compiler, "-b", "--noCheck", clientFolder], { stdio: "inherit" });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: clientFolder, stdio: "pipe" });
}
