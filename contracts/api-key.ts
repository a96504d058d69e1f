import { z } from "zod";
import { ConsumerName } from "./consumer.ts";
import { UtcDateTime } from "./date-time.ts";
import { storable } from "./fields.ts";

/** Whom a key is for, and of which location. */
export const CreateApiKey = storable(
  z.object({ locationId: z.guid().meta({ description: "The location of the key" }), consumerName: ConsumerName }),
).meta({
  id: "CreateApiKey",
  description: "Whom a new key is for, and of which location",
  example: { locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11", consumerName: "Acme" },
});

export const CreatedApiKey = z
  .object({ apiKey: z.string().meta({ description: "The key. It is shown this once: only its hash is kept" }) })
  .meta({
    id: "CreatedApiKey",
    description: "A new key, the only time that it is shown",
    example: { apiKey: "pragma_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE" },
  });

/** A key as lists show it: everything but the key itself. */
export const ApiKey = z
  .object({
    id: z.guid().meta({ description: "Id of the key, to revoke it by" }),
    prefix: z.string().meta({ description: "How the key begins, to tell keys apart", example: "pragma_4fGh2Kq" }),
    consumerName: ConsumerName,
    locationId: z.guid().nullable().meta({ description: "Null for the operator's own keys, which have no location" }),
    createdAt: UtcDateTime.meta({ description: "When it was made" }),
    lastUsedAt: UtcDateTime.nullable().meta({ description: "When it was last used, to within some minutes" }),
    revokedAt: UtcDateTime.nullable().meta({ description: "When it was revoked; null while it is good" }),
  })
  .meta({
    id: "ApiKey",
    description: "A key, but for the key itself, which is not kept",
    example: {
      id: "5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
      prefix: "pragma_4fGh2Kq",
      consumerName: "Acme",
      locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
      createdAt: "2026-05-29T10:17:19.000Z",
      lastUsedAt: "2026-05-30T08:00:00.000Z",
      revokedAt: null,
    },
  });

export type ApiKey = z.infer<typeof ApiKey>;
