import type { RecipientWithSecret } from "@pragma/contracts/recipient";
import type { RecipientRow } from "../queries/recipients.ts";
import { signingSecretOf } from "../sign-message.ts";

/** A recipient with the secret that was made for it, if one was: the only time that it is shown. */
export function recipientReply(
  recipient: RecipientRow,
  madeSecret: string | null,
): Omit<RecipientWithSecret, keyof RecipientRow> & RecipientRow {
  return { ...recipient, hmacSecret: madeSecret, signingSecret: madeSecret && signingSecretOf(madeSecret) };
}
