import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { CommonServiceConfig } from "../config/runtime-config.ts";

export type Encryption = ReturnType<typeof createEncryption>;

const cipher = "aes-256-gcm";

/** Encrypted texts are `keyId.iv.tag.ciphertext` with AES-256-GCM. The first key encrypts; all can decrypt. */
export function createEncryption(keys: CommonServiceConfig["DATA_KEYS"]) {
  const deriveKey = (secret: string) => Buffer.from(hkdfSync("sha256", secret, "", "pragma data at rest", 32));
  const derivedKeys = new Map(keys.map(({ id, secret }) => [id, deriveKey(secret)]));
  const [current] = derivedKeys;
  if (!current) throw new Error("A key is needed to encrypt data.");
  const [currentId, currentSecret] = current;
  return {
    encrypt(text: string): string {
      const iv = randomBytes(12);
      const cipherStream = createCipheriv(cipher, currentSecret, iv);
      const ciphertext = Buffer.concat([cipherStream.update(text, "utf8"), cipherStream.final()]);
      return [currentId, ...[iv, cipherStream.getAuthTag(), ciphertext].map((part) => part.toString("base64url"))].join(
        ".",
      );
    },
    /** Decrypts a text. @throws `Error` when the key of the text is not configured or the text was changed. */
    decrypt(encrypted: string): string {
      const [id = "", ...parts] = encrypted.split(".");
      const secret = derivedKeys.get(id);
      if (!secret) throw new Error(`Cannot decrypt: data key ${id} is not configured.`);
      const [iv, tag, text] = parts.map((part) => Buffer.from(part, "base64url"));
      if (!iv || !tag || !text) throw new Error("Malformed ciphertext.");
      const decipher = createDecipheriv(cipher, secret, iv).setAuthTag(tag);
      return Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8");
    },
  };
}
