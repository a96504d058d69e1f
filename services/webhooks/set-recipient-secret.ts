import { randomBytes } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import type { WebhooksContext } from "./context.ts";

/** How long a secret that was rotated away signs on. */
const rotationOverlapMs = 24 * 3_600_000;

/** Each of them adds a signature to every message. */
const maxActiveSecrets = 5;

interface SetRecipientSecret {
  recipientId: string;
  /** The secret to use from now on; one is created when it is not given. */
  hmacSecret?: string | undefined;
  now: Date;
  /** Whether those of before end at once. */
  isLeaked?: boolean;
}

/**
 * Gives a recipient its next secret. Those of before sign for another 24 hours, or no more if they have leaked. The
 * latest one given again changes nothing else.
 *
 * @returns the secret, if it was created here.
 * @throws `ApiError` too_many_secrets.
 */
export async function setRecipientSecret(
  { encryption }: Pick<WebhooksContext, "encryption">,
  tx: SqlTransaction,
  { recipientId, hmacSecret, now, isLeaked = false }: SetRecipientSecret,
): Promise<string | null> {
  const activeSecrets = await tx<{ sealed: string }[]>`
    select sealed_secret as sealed from recipient_secrets
    where recipient_id = ${recipientId} and (expires_at is null or expires_at > ${now})
    order by number desc`;
  const [latest] = activeSecrets;
  const isSame = hmacSecret !== undefined && latest !== undefined && encryption.decrypt(latest.sealed) === hmacSecret;
  if (isSame && !isLeaked) return null;
  if (activeSecrets.length >= maxActiveSecrets && !isLeaked) {
    throw new ApiError("too_many_secrets", {
      detail: `${maxActiveSecrets} secrets sign at the moment: wait until one of them expires, or rotate with isLeaked.`,
    });
  }
  const secret = hmacSecret ?? randomBytes(32).toString("hex");
  const othersExpireAt = new Date(now.getTime() + (isLeaked ? 0 : rotationOverlapMs));
  await tx`
    update recipient_secrets set expires_at = ${othersExpireAt}
    where recipient_id = ${recipientId} and (expires_at is null or expires_at > ${othersExpireAt})`;
  await tx`delete from recipient_secrets where recipient_id = ${recipientId} and expires_at <= ${now}`;
  await tx`
    insert into recipient_secrets (recipient_id, number, sealed_secret, created_at)
    select ${recipientId}, coalesce(max(number), 0) + 1, ${encryption.encrypt(secret)}, ${now}
    from recipient_secrets where recipient_id = ${recipientId}`;
  return hmacSecret === undefined ? secret : null;
}
