import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { repositoryFolder } from "./setup.mjs";
import { readOrCreateFile } from "./state-folder.ts";
import { LocalCommandUserError } from "./terminal.mjs";

/**
 * Returns the secrets of a local installation: the encryption keys for stored data (`name:secret`) and the first admin
 * key. The first call creates the secrets in a file that only its owner can read.
 *
 * @throws `LocalCommandUserError` if the file is broken. The file is not replaced, because only its keys decrypt stored data.
 */
export async function readOrCreateLocalSecrets(folder: string): Promise<{ dataKeys: string; adminKey: string }> {
  const file = join(folder, "secrets.json");
  // Imported dynamically, because a static import would be circular: the runtime is compiled with types of this folder.
  const { generateApiKey } = await import(join(repositoryFolder, "services", "_runtime", "security", "api-key.ts"));
  const text = readOrCreateFile(file, () => {
    const secrets = { dataKeys: `local:${randomBytes(32).toString("hex")}`, adminKey: generateApiKey().key };
    return `${JSON.stringify(secrets, undefined, 2)}\n`;
  });
  try {
    const { dataKeys, adminKey } = JSON.parse(text) ?? {};
    if ([dataKeys, adminKey].every((secret) => typeof secret === "string")) return { dataKeys, adminKey };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new LocalCommandUserError(
    `${file} is broken. Remove ${folder} to start with fresh demo data (rm -rf ${folder}).`,
  );
}
