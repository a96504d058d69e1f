import { z } from "zod";
import { deliveryExample } from "./examples/webhook.ts";

/** The headers that say who sent a message, and which. */
export const webhookHeaders = z.object({
  "webhook-id": z.guid().meta({
    description: "Id of the message, the same on every attempt: handle a message once by it",
    example: deliveryExample.messageId,
  }),
  "webhook-timestamp": z.string().regex(/^\d+$/).meta({
    description: "When this attempt was made, in seconds since 1970: refuse it when that is minutes ago",
    example: "1780050672",
  }),
  "webhook-signature": z.string().meta({
    description:
      "For each current secret of the recipient `v1,` and the base64 of an HMAC-SHA256 over webhook-id, webhook-timestamp and the body with points between them; with a space between signatures. The key is the secret's UTF-8 bytes. Standard Webhooks libraries check it",
    example: "v1,eZ5Gd3lgHB0i7o1p2mmm9HhiYpsX2YtQx1bUqyqzv3Y=",
  }),
  "x-popina-webhook-id": z.guid().meta({ description: "The same as webhook-id", example: deliveryExample.messageId }),
  "x-popina-webhook-event": z.string().meta({ description: "What the message tells of", example: "order.paid" }),
  "x-popina-hmac-signature": z.string().meta({
    description:
      "HMAC-SHA256 over the body, in hexadecimal. The key is the secret's UTF-8 bytes; of several current secrets, the oldest",
    example: "3b0c7b6f9c6d4f7c8a2e6f3f1f0b2f4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
  }),
});
