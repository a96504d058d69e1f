import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Failure } from "./failure.mjs";
import { checkout } from "./setup.mjs";
import { keptFile } from "./state-folder.ts";

/**
 * What a checkout's installation keeps to itself, made once and readable by its owner only: what data at rest is encrypted
 * with (`name:secret`), and the first admin key.
 *
 * @throws Failure when the file is broken: the database holds the hash of the key that was in it.
 */
export async function secretsIn(folder: string): Promise<{ dataKeys: string; adminKey: string }> {
  const file = join(folder, "secrets.json");
  // Not a static import: the runtime is compiled with types of this folder.
  const { createApiKey } = await import(join(checkout, "services", "_runtime", "api-key.ts"));
  const text = keptFile(file, () => {
    const fresh = { dataKeys: `local:${randomBytes(32).toString("hex")}`, adminKey: createApiKey().key };
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
