import { isUtf8 } from "node:buffer";
import { decodeStandardSecret, standardSecretPrefix } from "@pragma/contracts/webhook-recipient";

/** Begins a stored secret whose key is not text, before the key in base64. No secret in a request contains this character. */
const binaryKeyPrefix = "\0";

/**
 * Returns a valid secret of a request as it is stored: its key as text if the key is text, so that `hmacSecret` and
 * `signingSecret` are the same secret.
 */
export function toStoredSecret(secret: string): string {
  const key = secret.startsWith(standardSecretPrefix) ? decodeStandardSecret(secret) : undefined;
  if (!key) return secret;
  const isText = isUtf8(key) && !key.includes(0);
  return isText ? key.toString("utf8") : `${binaryKeyPrefix}${key.toString("base64")}`;
}

/** Returns the key of a stored secret, with which messages are signed. */
export function getSigningKey(storedSecret: string): Buffer {
  return storedSecret.startsWith(binaryKeyPrefix)
    ? Buffer.from(storedSecret.slice(binaryKeyPrefix.length), "base64")
    : Buffer.from(storedSecret, "utf8");
}

/** Returns a stored secret in the format of Standard Webhooks libraries. */
export function encodeSigningSecret(storedSecret: string): string {
  return `${standardSecretPrefix}${getSigningKey(storedSecret).toString("base64")}`;
}
