import { randomBytes } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Transaction } from "@pragma/runtime/postgres";
import { addSecret, currentSecrets } from "./queries/recipients.ts";
import type { Webhooks } from "./webhooks.ts";

/** How long a secret that was rotated away signs on, in milliseconds. */
const rotationOverlap = 24 * 3_600_000;

/** Each of them adds a signature to every message. */
const mostSecrets = 5;

interface UsingSecret {
  recipientId: string;
  /** The secret to use from now on; one is made when it is not given. */
  hmacSecret: string | undefined;
  now: Date;
  /** Whether those of before end at once. */
  isLeaked?: boolean;
}

/**
 * Gives a recipient its next secret. Those of before sign for another 24 hours, or no more if they have leaked. The
 * latest one given again changes nothing else.
 *
 * @returns the secret, if it was made here.
 * @throws `ApiError` too_many_secrets.
 */
export async function useSecret(
  { vault }: Pick<Webhooks, "vault">,
  tx: Transaction,
  { recipientId, hmacSecret, now, isLeaked = false }: UsingSecret,
): Promise<string | null> {
  const current = await currentSecrets(tx, recipientId, now);
  const [latest] = current;
  const isSame = hmacSecret !== undefined && latest !== undefined && vault.open(latest.sealed) === hmacSecret;
  if (isSame && !isLeaked) return null;
  if (current.length >= mostSecrets && !isLeaked) {
    throw new ApiError("too_many_secrets", {
      detail: `${mostSecrets} secrets sign at the moment: wait until one of them expires, or rotate with isLeaked.`,
    });
  }
  const secret = hmacSecret ?? randomBytes(32).toString("hex");
  const othersExpireAt = new Date(now.getTime() + (isLeaked ? 0 : rotationOverlap));
  await addSecret(tx, { recipientId, sealed: vault.seal(secret), now, othersExpireAt });
  return hmacSecret === undefined ? secret : null;
}
