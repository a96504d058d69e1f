import { randomBytes } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import type { WebhooksServiceContext } from "./context.ts";
import { encodeSigningSecret, toStoredSecret } from "./messages/signing-secret.ts";
import type { ReturnedSecret, WebhookRecipientKey } from "./queries/recipients.ts";

/** Milliseconds for which a replaced secret still signs messages, so that receivers can switch to the new secret. */
const rotationOverlapMs = 24 * 3_600_000;

/** Maximum number of active secrets per recipient. It is low, because each secret adds a signature to every message. */
const maxActiveSecrets = 5;

interface SetRecipientSecret {
  recipientKey: WebhookRecipientKey;
  /** The new secret. If omitted, a secret is generated. */
  hmacSecret?: string | undefined;
  now: Date;
  /** Whether earlier secrets expire immediately. */
  isLeaked?: boolean;
}

/**
 * Sets the current secret of a recipient. Earlier secrets expire within 24 hours, or immediately if they have leaked.
 * Setting the current secret again without `isLeaked` changes nothing.
 *
 * @returns the secret for the response.
 * @throws `ApiError` too_many_secrets when the recipient already has five active secrets, unless `isLeaked` is set.
 */
export async function setWebhookRecipientSecret(
  { encryption }: Pick<WebhooksServiceContext, "encryption">,
  tx: SqlTransaction,
  { recipientKey: { locationId, id: recipientId }, hmacSecret, now, isLeaked = false }: SetRecipientSecret,
): Promise<ReturnedSecret> {
  const ofRecipient = tx`location_id = ${locationId} and recipient_id = ${recipientId}`;
  const activeSecrets = await tx<{ encryptedSecret: string }[]>`
    select encrypted_secret from signing_secrets
    where ${ofRecipient} and (expires_at is null or expires_at > ${now})
    order by version desc`;
  const [latest] = activeSecrets;
  const secret = hmacSecret === undefined ? randomBytes(32).toString("hex") : toStoredSecret(hmacSecret);
  const generated = hmacSecret === undefined ? secret : null;
  const returned = { hmacSecret: generated, signingSecret: encodeSigningSecret(secret) };
  const isUnchanged = latest !== undefined && encryption.decrypt(latest.encryptedSecret) === secret;
  if (isUnchanged && !isLeaked) return returned;
  if (activeSecrets.length >= maxActiveSecrets && !isLeaked) {
    throw new ApiError("too_many_secrets", {
      detail: `This recipient already has ${maxActiveSecrets} active secrets. Wait until one expires, or set isLeaked when you rotate the secret.`,
    });
  }
  const othersExpireAt = new Date(now.getTime() + (isLeaked ? 0 : rotationOverlapMs));
  await tx`
    update signing_secrets set expires_at = ${othersExpireAt}
    where ${ofRecipient} and (expires_at is null or expires_at > ${othersExpireAt})`;
  await tx`delete from signing_secrets where ${ofRecipient} and expires_at <= ${now}`;
  await tx`
    insert into signing_secrets (location_id, recipient_id, version, encrypted_secret, created_at)
    select ${locationId}, ${recipientId}, coalesce(max(version), 0) + 1, ${encryption.encrypt(secret)}, ${now}
    from signing_secrets where ${ofRecipient}`;
  return returned;
}
