import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { newApiKey } from "./api-key.mjs";
import { Failure } from "./failure.mjs";
import { keptFile } from "./kept-file.mjs";

/**
 * What a checkout's installation keeps to itself.
 * @typedef {object} Secrets
 * @property {string} dataKeys `name:secret`: what data at rest is encrypted with
 * @property {string} adminKey the first admin key
 */

/**
 * The installation's secrets, made once and readable by their owner only.
 * @param {string} folder
 * @returns {Secrets}
 * @throws {Failure} when the file is broken: the database holds the hash of the key that was in it
 */
export function secretsIn(folder) {
  const file = join(folder, "secrets.json");
  const text = keptFile(file, () => {
    const fresh = { dataKeys: newSecret(), adminKey: newApiKey() };
    return `${JSON.stringify(fresh, undefined, 2)}\n`;
  });
  try {
    const { dataKeys, adminKey } = JSON.parse(text) ?? {};
    if ([dataKeys, adminKey].every((secret) => typeof secret === "string")) return { dataKeys, adminKey };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Failure(`${file} is broken. Remove ${folder} to start with fresh demo data (rm -rf ${folder}).`);
}

/**
 * @returns {string}
 */
function newSecret() {
  return `local:${randomBytes(32).toString("hex")}`;
}
