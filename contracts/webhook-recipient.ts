import { z } from "zod";
import { UtcDateTimeSchema } from "./date-time.ts";
import { webhookRecipientExample } from "./examples/webhook.ts";
import { boundedString, withUnstorableTextCheck } from "./fields.ts";

const recipientName = boundedString(255, { min: 1 }).meta({
  description: "Name of the recipient",
  example: "Stock keeper",
});

/** A signing secret. Its UTF-8 bytes are the key of an HMAC-SHA256. */
const hmacSecret = boundedString(1_024, { min: 64 }).meta({
  description: "Secret for signing messages, at least 64 characters long",
  example: "4f2d8c0b7a6e5d4c3b2a19080f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4",
});

const apiKey = boundedString(1_024)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, {
    error: "Must contain only printable ASCII characters, without spaces at the start or end",
  })
  .meta({
    description: "Value that the API sends, unchanged, in the `authorization` header to the recipient's endpoints",
    example: "Bearer 0c6f2f1e",
  });

/** A recipient to create, or to update if a recipient with this id exists. Omitted fields keep their value. */
export const UpsertWebhookRecipientRequest = withUnstorableTextCheck(
  z.object({
    id: z.guid().optional().meta({
      description: "ID of the recipient. Generated if omitted.",
      example: webhookRecipientExample.id,
    }),
    locationId: z
      .guid()
      .optional()
      .meta({ description: "ID of the recipient's location. Defaults to the API key's location." }),
    name: recipientName,
    hmacSecret: hmacSecret.optional().meta({
      description:
        "Secret for signing messages, at least 64 characters long. If omitted for a new recipient, a secret is generated and returned once. A different secret for an existing recipient has the same effect as a rotation.",
    }),
    apiKey: apiKey.nullable().optional().meta({
      description:
        "Value that the API sends, unchanged, in the `authorization` header to the recipient's endpoints; null removes the value",
    }),
  }),
).meta({
  id: "UpsertRecipient",
  description: "A recipient to create, or to update if a recipient with this ID exists",
  example: { name: webhookRecipientExample.name, apiKey: "Bearer 0c6f2f1e" },
});

export type UpsertWebhookRecipientRequest = z.infer<typeof UpsertWebhookRecipientRequest>;

export const RotateWebhookRecipientSecretRequest = withUnstorableTextCheck(
  z.object({
    hmacSecret: hmacSecret.optional().meta({
      description: "New secret, at least 64 characters long. If omitted, a new secret is generated and returned once.",
    }),
    isLeaked: z.boolean().default(false).meta({
      description:
        "Whether a secret may have leaked. If true, previous secrets expire immediately instead of after 24 hours.",
    }),
  }),
).meta({ id: "RotateSecret", description: "Options for rotating a recipient's secret", example: { isLeaked: false } });

export type RotateWebhookRecipientSecretRequest = z.infer<typeof RotateWebhookRecipientSecretRequest>;

/** An application to which webhook messages are sent, without its secrets and its API key. */
export const WebhookRecipient = z
  .object({
    id: z.guid().meta({ description: "ID of the recipient" }),
    createdAt: UtcDateTimeSchema.meta({ description: "When the recipient was created" }),
    updatedAt: UtcDateTimeSchema.meta({ description: "When the recipient was last updated" }),
    locationId: z.guid().meta({ description: "ID of the recipient's location" }),
    name: recipientName,
    hasApiKey: z
      .boolean()
      .meta({ description: "Whether messages to the recipient's endpoints contain an `authorization` header" }),
    secrets: z
      .array(
        z.object({
          createdAt: UtcDateTimeSchema.meta({ description: "When the secret was set or generated" }),
          expiresAt: UtcDateTimeSchema.nullable().meta({
            description: "When the secret expires; null for the newest secret, which is valid until it is rotated",
          }),
        }),
      )
      .meta({ description: "Active secrets, newest first, without their values" }),
  })
  .meta({
    id: "Recipient",
    description:
      "An application to which webhook messages are sent. The values of its secrets and of its API key are not included.",
    example: webhookRecipientExample,
  });

export type WebhookRecipient = z.infer<typeof WebhookRecipient>;

/** A recipient, with its new secret if the request generated a secret. The secret is returned only once. */
export const WebhookRecipientWithSecret = WebhookRecipient.extend({
  hmacSecret: hmacSecret.nullable().meta({
    description:
      "Generated secret, returned only once; null if the request contained a secret or the secret did not change",
  }),
  signingSecret: z.string().nullable().meta({
    description:
      "Same secret as `hmacSecret`, in the format that Standard Webhooks libraries expect; null if `hmacSecret` is null",
  }),
}).meta({
  id: "RecipientWithSecret",
  description: "A recipient, with its secret if one was generated",
  example: {
    ...webhookRecipientExample,
    hmacSecret: "4f2d8c0b7a6e5d4c3b2a19080f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4",
    signingSecret: "whsec_NGYyZDhjMGI3YTZlNWQ0YzNiMmExOTA4MGY3ZTZkNWM0YjNhMjkxODBmN2U2ZDVjNGIzYTI5MTgwN2Y2ZTVkNA==",
  },
});

export type WebhookRecipientWithSecret = z.infer<typeof WebhookRecipientWithSecret>;
