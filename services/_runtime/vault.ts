import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { RuntimeConfig } from "./config.ts";

/** Encrypts what is kept and must not be read by whoever sees the database. */
export type Vault = ReturnType<typeof openVault>;

const cipher = "aes-256-gcm";

/** Seals with the first of the keys and opens with any, so that keys can be rotated: AES-256-GCM, `key.iv.tag.text`. */
export function openVault(keys: RuntimeConfig["DATA_KEYS"]) {
  const derive = (secret: string) => Buffer.from(hkdfSync("sha256", secret, "", "pragma data at rest", 32));
  const secrets = new Map(keys.map(({ id, secret }) => [id, derive(secret)]));
  const [current] = secrets;
  if (!current) throw new Error("A key is needed to encrypt data.");
  const [currentId, currentSecret] = current;
  return {
    seal(text: string): string {
      const iv = randomBytes(12);
      const sealing = createCipheriv(cipher, currentSecret, iv);
      const sealed = Buffer.concat([sealing.update(text, "utf8"), sealing.final()]);
      return [currentId, ...[iv, sealing.getAuthTag(), sealed].map((part) => part.toString("base64url"))].join(".");
    },
    /** Throws when the text was sealed with a key that is not configured any more, or was changed. */
    open(sealed: string): string {
      const [id = "", ...parts] = sealed.split(".");
      const secret = secrets.get(id);
      if (!secret) throw new Error(`What was sealed with data key ${id} cannot be opened: that key is not configured.`);
      const [iv, tag, text] = parts.map((part) => Buffer.from(part, "base64url"));
      if (!iv || !tag || !text) throw new Error("This was not sealed here.");
      const opening = createDecipheriv(cipher, secret, iv).setAuthTag(tag);
      return Buffer.concat([opening.update(text), opening.final()]).toString("utf8");
    },
  };
}
