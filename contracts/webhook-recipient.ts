import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { webhookRecipientExample } from "./examples/webhook.ts";
import { boundedString, rejectUnstorableText } from "./fields.ts";

const recipientName = boundedString(255, { min: 1 }).meta({
  description: "Name of the recipient",
  example: "Stock keeper",
});

/** What messages are signed with: its UTF-8 bytes are the key of an HMAC-SHA256. */
const hmacSecret = boundedString(1_024, { min: 64 }).meta({
  description: "What messages are signed with, of at least 64 characters",
  example: "4f2d8c0b7a6e5d4c3b2a19080f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4",
});

const apiKey = boundedString(1_024)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, { error: "Must be visible ASCII characters" })
  .meta({
    description: "Sent to the endpoints as the header authorization, as it is given here",
    example: "Bearer 0c6f2f1e",
  });

/** A recipient to make, or to change when there is one of this id. What is left out stays. */
export const UpsertWebhookRecipient = rejectUnstorableText(
  z.object({
    id: z.guid().optional().meta({
      description: "Id of the recipient; one is made when it is left out",
      example: webhookRecipientExample.id,
    }),
    locationId: z
      .guid()
      .optional()
      .meta({ description: "The location whose webhooks it gets; the key's own if left out" }),
    name: recipientName,
    hmacSecret: hmacSecret.optional().meta({
      description:
        "What messages are signed with, of at least 64 characters; one is made, and shown once, for a new recipient that is given none. Another than before takes the place of that one as a rotation does",
    }),
    apiKey: apiKey.nullable().optional().meta({
      description: "Sent to the endpoints as the header authorization, as it is given here; null takes it away",
    }),
  }),
).meta({
  id: "UpsertRecipient",
  description: "A recipient to make, or to change when there is one of this id",
  example: { name: webhookRecipientExample.name, apiKey: "Bearer 0c6f2f1e" },
});

export type UpsertWebhookRecipient = z.infer<typeof UpsertWebhookRecipient>;

export const RotateRecipientSecret = rejectUnstorableText(
  z.object({
    hmacSecret: hmacSecret.optional().meta({
      description: "The next secret, of at least 64 characters; one is made, and shown once, when it is left out",
    }),
    isLeaked: z.boolean().default(false).meta({
      description:
        "Whether the secrets of before end at once, instead of in 24 hours, because somebody else may know them",
    }),
  }),
).meta({ id: "RotateSecret", description: "How to rotate a recipient's secret", example: { isLeaked: false } });

export type RotateRecipientSecret = z.infer<typeof RotateRecipientSecret>;

/** Whoever gets webhooks: what they are signed and authorized with, which is never read back. */
export const WebhookRecipient = z
  .object({
    id: z.guid().meta({ description: "Id of the recipient" }),
    createdAt: UtcDateTime,
    updatedAt: UtcDateTime,
    locationId: z.guid().meta({ description: "The location whose webhooks it gets" }),
    name: recipientName,
    hasApiKey: z.boolean().meta({ description: "Whether an apiKey is sent to its endpoints" }),
    secrets: z
      .array(
        z.object({
          createdAt: UtcDateTime.meta({ description: "When the secret was given or made" }),
          expiresAt: UtcDateTime.nullable().meta({
            description: "When a secret that was rotated away signs no longer; null for the latest",
          }),
        }),
      )
      .meta({ description: "The secrets that sign at the moment, without themselves: the latest first" }),
  })
  .meta({
    id: "Recipient",
    description: "Whoever gets webhooks. Its secrets and its API key are never read back",
    example: webhookRecipientExample,
  });

export type WebhookRecipient = z.infer<typeof WebhookRecipient>;

/** A recipient as the reply to its making shows it: with the secret that was made for it, this once. */
export const WebhookRecipientWithSecret = WebhookRecipient.extend({
  hmacSecret: hmacSecret.nullable().meta({
    description: "The secret that was made, shown this once; null when it was given, or stays as it was",
  }),
  signingSecret: z.string().nullable().meta({
    description: "The same secret in the form that Standard Webhooks libraries take",
  }),
}).meta({
  id: "RecipientWithSecret",
  description: "A recipient, with the secret that was made for it",
  example: {
    ...webhookRecipientExample,
    hmacSecret: "4f2d8c0b7a6e5d4c3b2a19080f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4",
    signingSecret: "whsec_NGYyZDhjMGI3YTZlNWQ0YzNiMmExOTA4MGY3ZTZkNWM0YjNhMjkxODBmN2U2ZDVjNGIzYTI5MTgwN2Y2ZTVkNA==",
  },
});

export type WebhookRecipientWithSecret = z.infer<typeof WebhookRecipientWithSecret>;
