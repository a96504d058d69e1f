import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { boundedArray, boundedString, rejectUnstorableText } from "./fields.ts";
import { defaultConsumerScopes, scopeNames } from "./scopes.ts";

/** A consumer's name, unique among the consumers of its location, or of the operators. */
const ConsumerNameSchema = boundedString(255, { min: 2 }).meta({
  description: "Name of the consumer",
  example: "Acme",
});

const ScopesSchema = boundedArray(z.enum(scopeNames, { error: `Must be one of: ${scopeNames.join(", ")}` }), 100)
  .overwrite((granted) => [...new Set(granted)])
  .meta({ description: "What its keys may do", example: [...defaultConsumerScopes] });

/** How many requests each key of a consumer may make: so many a second, and so many at once after a quiet time. */
export const RateLimit = z
  .object({
    perSecond: z.int().min(1).max(100_000).meta({ description: "Requests a second, over time", example: 50 }),
    burst: z.int().min(1).max(1_000_000).meta({ description: "Requests at once, after a quiet time", example: 200 }),
  })
  .meta({ id: "RateLimit", description: "How many requests a key may make" });

export type RateLimit = z.infer<typeof RateLimit>;

const rateLimitOrDefault = RateLimit.nullable().meta({ description: "Null: the limit that every key has by default" });

/** Whoever integrates with this API: keys are made for a consumer, and may do what its scopes allow. */
export const ApiConsumer = z
  .object({
    id: z.guid().meta({ description: "Id of the consumer" }),
    createdAt: UtcDateTime.meta({ description: "When it was made" }),
    updatedAt: UtcDateTime.meta({ description: "When it was last changed" }),
    locationId: z
      .guid()
      .nullable()
      .meta({ description: "The location whose key created it; null for a consumer of the operators" }),
    name: ConsumerNameSchema,
    scopes: ScopesSchema,
    rateLimit: rateLimitOrDefault,
  })
  .meta({
    id: "Consumer",
    description: "Whoever integrates with this API: its keys may do what its scopes allow",
    example: {
      id: "0b0c1a7e-5f5e-4a51-9d6b-0a1f6b1f7c22",
      createdAt: "2026-05-29T10:17:19.000Z",
      updatedAt: "2026-05-29T10:17:19.000Z",
      locationId: null,
      name: "Acme",
      scopes: [...defaultConsumerScopes],
      rateLimit: null,
    },
  });

export type ApiConsumer = z.infer<typeof ApiConsumer>;

export const CreateApiConsumer = rejectUnstorableText(z.object({ name: ConsumerNameSchema })).meta({
  id: "CreateConsumer",
  description: "The name of a new consumer, which no other of its location, or of the operators, has",
  example: { name: "Acme" },
});

/** What to change of a consumer; what is left out stays. */
export const ChangeApiConsumer = z
  .object({ scopes: ScopesSchema, rateLimit: rateLimitOrDefault })
  .partial()
  .meta({
    id: "ChangeConsumer",
    description: "What to change; what is left out stays",
    example: { scopes: [...defaultConsumerScopes, "tills:write"], rateLimit: { perSecond: 100, burst: 400 } },
  });

export type ChangeApiConsumer = z.infer<typeof ChangeApiConsumer>;

/** Whom a key is for, and of which location. */
export const CreateApiKey = rejectUnstorableText(
  z.object({ locationId: z.guid().meta({ description: "The location of the key" }), consumerName: ConsumerNameSchema }),
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
    consumerName: ConsumerNameSchema,
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
