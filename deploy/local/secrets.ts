import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { repositoryFolder } from "./setup.mjs";
import { readOrCreateFile } from "./state-folder.ts";
import { LocalCommandUserError } from "./terminal.mjs";

/** The encryption keys for stored data (`name:secret`), the first admin key, and the token of the ops port. */
type LocalSecrets = Record<"dataKeys" | "adminKey" | "opsToken", string>;

/** Returns the secrets in a file of the folder. @throws `LocalCommandUserError` if it is broken: they decrypt data. */
export async function readOrCreateLocalSecrets(folder: string): Promise<LocalSecrets> {
  const file = join(folder, "secrets.json");
  // Imported dynamically, because a static import would be circular: the runtime is compiled with types of this folder.
  const { generateApiKey } = await import(join(repositoryFolder, "services", "_runtime", "security", "api-key.ts"));
  const text = readOrCreateFile(file, () => {
    const dataKeys = `local:${randomBytes(32).toString("hex")}`;
    const secrets = { dataKeys, adminKey: generateApiKey().key, opsToken: randomBytes(24).toString("hex") };
    return `${JSON.stringify(secrets, undefined, 2)}\n`;
  });
  try {
    const { dataKeys, adminKey, opsToken } = JSON.parse(text);
    if ([dataKeys, adminKey, opsToken].every((secret) => typeof secret === "string"))
      return { dataKeys, adminKey, opsToken };
  } catch {}
  throw new LocalCommandUserError(
    `${file} is broken. Remove ${folder} to start with fresh demo data (rm -rf ${folder}).`,
  );
}
