import { randomBytes } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Transaction } from "@pragma/runtime/postgres";
import { addSecret, currentSecrets, findRecipient } from "./queries/recipients.ts";
import { signingSecretOf } from "./sign-message.ts";
import type { Webhooks } from "./webhooks.ts";

/** How long a secret that was rotated away signs on, in milliseconds. */
const rotationOverlapMs = 24 * 3_600_000;

/** Each of them adds a signature to every message. */
const maxSecrets = 5;

interface UsingSecret {
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
export async function useSecret(
  { vault }: Pick<Webhooks, "vault">,
  tx: Transaction,
  { recipientId, hmacSecret, now, isLeaked = false }: UsingSecret,
): Promise<string | null> {
  const current = await currentSecrets(tx, recipientId, now);
  const [latest] = current;
  const isSame = hmacSecret !== undefined && latest !== undefined && vault.open(latest) === hmacSecret;
  if (isSame && !isLeaked) return null;
  if (current.length >= maxSecrets && !isLeaked) {
    throw new ApiError("too_many_secrets", {
      detail: `${maxSecrets} secrets sign at the moment: wait until one of them expires, or rotate with isLeaked.`,
    });
  }
  const secret = hmacSecret ?? randomBytes(32).toString("hex");
  const othersExpireAt = new Date(now.getTime() + (isLeaked ? 0 : rotationOverlapMs));
  await addSecret(tx, { recipientId, sealed: vault.seal(secret), now, othersExpireAt });
  return hmacSecret === undefined ? secret : null;
}

/** A recipient with the secret that was created for it, if one was: the only time that it is shown. */
export async function recipientReply(
  tx: Transaction,
  { id, createdSecret, now }: { id: string; createdSecret: string | null; now: Date },
) {
  const recipient = await findRecipient(tx, id, now);
  return { ...recipient, hmacSecret: createdSecret, signingSecret: createdSecret && signingSecretOf(createdSecret) };
}
