import { array, object, z } from "zod";
import type { RequestIssueCode } from "./errors.ts";
import { webhookRecipientExample } from "./examples/webhook.ts";
import { addIssue, boundedString, field, requestBodySchema } from "./fields.ts";

const hmacSecretExample = "4f2d8c0b7a6e5d4c3b2a19080f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4";

const recipientName = boundedString(255, { min: 1 }).meta({
  description: "Name of the recipient",
  example: "Stock keeper",
});

/** The prefix of a secret in the format of Standard Webhooks, which the key in base64 follows. */
export const standardSecretPrefix = "whsec_";

/** The minimum size of a key that Standard Webhooks recommends, in bytes. */
const minStandardKeyBytes = 24;
const minTextSecretLength = 64;

/**
 * Returns the key of a secret in the format of Standard Webhooks, or undefined if what follows the prefix is not base64 as
 * the libraries read it: with the standard alphabet and with padding.
 */
export function decodeStandardSecret(secret: string): Buffer | undefined {
  const text = secret.slice(standardSecretPrefix.length);
  const key = Buffer.from(text, "base64");
  return key.toString("base64") === text ? key : undefined;
}

const hmacSecretFormats = `either \`${standardSecretPrefix}\` and at least ${minStandardKeyBytes} bytes in base64, which are the key of the signatures, or another text of at least ${minTextSecretLength} characters, whose UTF-8 bytes are the key`;

/** A signing secret in a request. */
const hmacSecret = boundedString(1_024)
  .superRefine((secret, context) => {
    const report = (code: RequestIssueCode, message: string) => addIssue(context, code, message);
    if (!secret.startsWith(standardSecretPrefix)) {
      if (/^\s*wh(?:sec|sk|pk)_/i.test(secret))
        report(
          "invalid_format",
          `Must begin with ${standardSecretPrefix}, in lower case and without a space before it`,
        );
      else if (secret.length < minTextSecretLength) report("too_small", `Must be ${hmacSecretFormats}`);
      return;
    }
    const key = decodeStandardSecret(secret);
    if (!key)
      report(
        "invalid_format",
        `Must have base64 with padding after ${standardSecretPrefix}. It is ${hmacSecretFormats}`,
      );
    else if (key.byteLength < minStandardKeyBytes)
      report("too_small", `Must have at least ${minStandardKeyBytes} bytes in base64 after ${standardSecretPrefix}`);
  })
  .meta({ description: `Secret for signing messages: ${hmacSecretFormats}`, example: hmacSecretExample });

const apiKey = boundedString(1_024)
  .regex(
    /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
    "Must contain only printable ASCII characters, without spaces at the start or end",
  )
  .meta({
    description: "Value that the API sends, unchanged, in the `authorization` header to the recipient's endpoints",
    example: "Bearer 0c6f2f1e",
  });

export const UpsertWebhookRecipientRequest = requestBodySchema({
  id: z.guid().optional().meta({
    description: "ID of the recipient. Generated if omitted.",
    example: webhookRecipientExample.id,
  }),
  locationId: z.guid().optional().describe("ID of the recipient's location. Defaults to the API key's location."),
  name: recipientName,
  hmacSecret: hmacSecret.optional().meta({
    description: `Secret for signing messages: ${hmacSecretFormats}. If omitted for a new recipient, a secret is generated and returned once. A different secret for an existing recipient has the same effect as a rotation.`,
  }),
  apiKey: apiKey.nullable().optional().meta({
    description:
      "Value that the API sends, unchanged, in the `authorization` header to the recipient's endpoints; null removes the value",
  }),
}).meta({
  id: "UpsertRecipient",
  description: "A recipient to create, or to update if a recipient with this ID exists",
  example: { name: webhookRecipientExample.name, apiKey: "Bearer 0c6f2f1e" },
});

export type UpsertWebhookRecipientRequest = z.infer<typeof UpsertWebhookRecipientRequest>;

export const RotateSecretRequest = requestBodySchema({
  hmacSecret: hmacSecret.optional().meta({
    description: `New secret: ${hmacSecretFormats}. If omitted, a new secret is generated and returned once.`,
  }),
  isLeaked: field.falseByDefault(
    "Whether a secret may have leaked. If true, previous secrets expire immediately instead of after 24 hours.",
  ),
}).meta({ id: "RotateSecret", description: "Options for rotating a recipient's secret", example: { isLeaked: false } });

export type RotateSecretRequest = z.infer<typeof RotateSecretRequest>;

export const WebhookRecipient = object({
  id: field.uuid("ID of the recipient"),
  createdAt: field.dateTime("When the recipient was created"),
  updatedAt: field.dateTime("When the recipient was last updated"),
  locationId: field.uuid("ID of the recipient's location"),
  name: recipientName,
  hasApiKey: field.boolean("Whether messages to the recipient's endpoints contain an `authorization` header"),
  secrets: array(
    object({
      createdAt: field.dateTime("When the secret was set or generated"),
      expiresAt: field.nullableDateTime(
        "When the secret expires; null for the newest secret, which is valid until it is rotated",
      ),
    }),
  ).describe("Active secrets, newest first, without their values"),
}).meta({
  id: "Recipient",
  description:
    "An application to which webhook messages are sent. The values of its secrets and of its API key are not included.",
  example: webhookRecipientExample,
});

export type WebhookRecipient = z.infer<typeof WebhookRecipient>;

export const WebhookRecipientWithSecret = WebhookRecipient.extend({
  hmacSecret: z.string().nullable().meta({
    description: "Generated secret, returned only once; null if no secret was generated",
    example: hmacSecretExample,
  }),
  signingSecret: field.nullableText(
    "The generated secret, or the secret in the request, in the format that Standard Webhooks libraries expect; null if the request neither contained a secret nor generated one",
  ),
}).meta({
  id: "RecipientWithSecret",
  description: "A recipient, with its secret if the request contained or generated one",
  example: {
    ...webhookRecipientExample,
    hmacSecret: hmacSecretExample,
    signingSecret: "whsec_NGYyZDhjMGI3YTZlNWQ0YzNiMmExOTA4MGY3ZTZkNWM0YjNhMjkxODBmN2U2ZDVjNGIzYTI5MTgwN2Y2ZTVkNA==",
  },
});

export type WebhookRecipientWithSecret = z.infer<typeof WebhookRecipientWithSecret>;
