import { object, z } from "zod";
import { RequestDateTime } from "./date-time.ts";
import { boundedArray, boundedString, field, requestBodySchema } from "./fields.ts";
import { displayedLocationName, StoredCurrency } from "./location-settings.ts";
import { posApplicationNameSchema } from "./pos-application.ts";
import { apiScopeNames, defaultApiConsumerScopes } from "./scopes.ts";
import { TimeZone } from "./time-zone.ts";

/** The name of a consumer, unique among the consumers of its location, or among those that operators created. */
const ConsumerNameSchema = boundedString(255, { min: 2 }).meta({
  description: "Name of the consumer",
  example: "Acme",
});

const ScopesSchema = boundedArray(z.enum(apiScopeNames, `Must be one of: ${apiScopeNames.join(", ")}`), 100)
  .overwrite((granted) => [...new Set(granted)])
  .meta({
    description: "Scopes of the consumer. Each scope allows the consumer's API keys to use certain operations.",
    example: [...defaultApiConsumerScopes],
  });

export const RateLimit = object({
  perSecond: z
    .int()
    .min(1)
    .max(100_000)
    .meta({ description: "Number of requests per second that each API key can send continuously", example: 50 }),
  burst: z.int().min(1).max(1_000_000).meta({
    description: "Number of requests that each API key can send at once after a period without requests",
    example: 200,
  }),
}).meta({ id: "RateLimit", description: "Rate limit of each API key of a consumer" });

export type RateLimit = z.infer<typeof RateLimit>;

const rateLimitOrDefault = RateLimit.nullable().describe("Rate limit of each API key; null for the default rate limit");

export const ApiConsumer = object({
  id: field.uuid("ID of the consumer"),
  createdAt: field.dateTime("When the consumer was created"),
  updatedAt: field.dateTime("When the consumer was last updated"),
  locationId: field.nullableUuid(
    "ID of the location whose API key created the consumer; null for a consumer created by an operator",
  ),
  name: ConsumerNameSchema,
  scopes: ScopesSchema,
  rateLimit: rateLimitOrDefault,
}).meta({
  id: "Consumer",
  description:
    "An application or integrator that uses this API. Its scopes and rate limit apply to each of its API keys.",
  example: {
    id: "0b0c1a7e-5f5e-4a51-9d6b-0a1f6b1f7c22",
    createdAt: "2026-05-29T10:17:19.000Z",
    updatedAt: "2026-05-29T10:17:19.000Z",
    locationId: null,
    name: "Acme",
    scopes: [...defaultApiConsumerScopes],
    rateLimit: null,
  },
});

export type ApiConsumer = z.infer<typeof ApiConsumer>;

export const CreateApiConsumerRequest = requestBodySchema({ name: ConsumerNameSchema }).meta({
  id: "CreateConsumer",
  description:
    "A consumer to create. Its name must be unique among the consumers of the location or, if an operator creates the consumer, among the consumers created by operators.",
  example: { name: "Acme" },
});

export const ChangeApiConsumerRequest = object({ scopes: ScopesSchema, rateLimit: rateLimitOrDefault })
  .partial()
  .meta({
    id: "ChangeConsumer",
    description: "Changes to a consumer. Omitted fields are not changed.",
    example: { scopes: [...defaultApiConsumerScopes, "tills:write"], rateLimit: { perSecond: 100, burst: 400 } },
  });

export type ChangeApiConsumerRequest = z.infer<typeof ChangeApiConsumerRequest>;

export const CreateApiKeyRequest = requestBodySchema({
  locationId: field.uuid("ID of the location to which the API key gives access"),
  consumerName: ConsumerNameSchema,
  expiresAt: RequestDateTime.optional().meta({
    description:
      "When the API key stops working, which must be in the future. By default, it does not expire. If the calling key expires and does not have the scope `locations:any`, the new key must not expire later, and by default expires with it.",
    example: "2027-05-29T00:00:00.000Z",
  }),
}).meta({
  id: "CreateApiKey",
  description: "An API key to create for a consumer at a location",
  example: { locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11", consumerName: "Acme" },
});

export const CreatedApiKey = object({
  apiKey: field.text("The API key, which is returned only once. Store it securely."),
}).meta({
  id: "CreatedApiKey",
  description: "A new API key, which is returned only once",
  example: { apiKey: "pragma_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE" },
});

/** The maximum overlap of a rotation. A longer one would be a second key rather than a rotation. */
const maxRotationOverlapSeconds = 30 * 24 * 3_600;
const defaultRotationOverlapSeconds = 24 * 3_600;

export const RotateApiKeyRequest = object({
  overlapSeconds: z.int().min(0).max(maxRotationOverlapSeconds).default(defaultRotationOverlapSeconds).meta({
    description: "Number of seconds for which the previous key still works, so that you can replace it everywhere",
    example: defaultRotationOverlapSeconds,
  }),
  isLeaked: field.falseByDefault(
    "Whether the previous key may have leaked. If true, the previous key is revoked immediately, and `overlapSeconds` is ignored.",
  ),
  expiresAt: RequestDateTime.optional().meta({
    description:
      "When the new key stops working, which must be in the future. By default, the new key is valid for as long as the previous key was when it was created, or without limit. If the calling key expires, and rotates itself or does not have the scope `locations:any`, the new key must not expire later than the calling key, and by default expires at the latest with it.",
    example: "2027-05-29T00:00:00.000Z",
  }),
}).meta({ id: "RotateApiKey", description: "Options for rotating an API key", example: { isLeaked: false } });

export type RotateApiKeyRequest = z.output<typeof RotateApiKeyRequest>;

export const RotatedApiKey = object({
  id: field.uuid("ID of the new API key"),
  apiKey: field.text("The new API key, which is returned only once. Store it securely."),
  expiresAt: field.nullableDateTime("When the new key stops working; null if it does not expire"),
  previousKeyExpiresAt: field.dateTime("When the previous key stops working"),
}).meta({
  id: "RotatedApiKey",
  description: "A new API key that replaces a previous key. The new key is returned only once.",
  example: {
    id: "0c6f2f1e-7d5a-4a3e-9f7f-1f6d2f1d7b44",
    apiKey: "pragma_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE",
    expiresAt: null,
    previousKeyExpiresAt: "2026-05-30T10:17:19.000Z",
  },
});

export const ApiKey = object({
  id: field.uuid("ID of the API key, used to revoke it"),
  prefix: z.string().meta({
    description: "First characters of the API key, so that you can recognize the key in lists",
    example: "pragma_4fGh2Kq",
  }),
  consumerName: ConsumerNameSchema,
  scopes: ScopesSchema,
  locationId: field.nullableUuid("ID of the key's location; null for an operator's key"),
  locationName: displayedLocationName,
  createdAt: field.dateTime("When the API key was created"),
  lastUsedAt: field.nullableDateTime(
    "Approximate time of the last request with the API key; null if the key has never been used",
  ),
  revokedAt: field.nullableDateTime("When the API key was revoked; null if it has not been revoked"),
  expiresAt: field.nullableDateTime("When the API key stops working; null if it does not expire"),
  overlapEndsAt: field.nullableDateTime(
    "When the API key stops working because it was rotated; null if it was not rotated. `expiresAt` is never later.",
  ),
  createdBy: field.nullableUuid("ID of the API key that created this key; null if no key created it"),
  revokedBy: field.nullableUuid("ID of the API key that revoked this key; null if no key revoked it"),
}).meta({
  id: "ApiKey",
  description: "Metadata of an API key. The key itself is not stored.",
  example: {
    id: "5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
    prefix: "pragma_4fGh2Kq",
    consumerName: "Acme",
    scopes: [...defaultApiConsumerScopes],
    locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
    locationName: "Le Bistrot",
    createdAt: "2026-05-29T10:17:19.000Z",
    lastUsedAt: "2026-05-30T08:00:00.000Z",
    revokedAt: null,
    expiresAt: null,
    overlapEndsAt: null,
    createdBy: "9b3a1f52-9c0b-4f6e-8f0d-2f7f8f0f6a10",
    revokedBy: null,
  },
});

export type ApiKey = z.infer<typeof ApiKey>;

export const CurrentApiKey = object({
  id: field.uuid("ID of the API key"),
  prefix: ApiKey.shape.prefix,
  createdAt: ApiKey.shape.createdAt,
  expiresAt: ApiKey.shape.expiresAt,
  consumer: object({
    id: field.uuid("ID of the consumer"),
    name: ConsumerNameSchema,
  }).describe("Consumer to which the API key belongs"),
  scopes: ScopesSchema,
  rateLimit: object({
    perSecond: field.positiveInteger("Number of requests per second that the API key can send continuously"),
    burst: field.positiveInteger(
      "Number of requests that the API key can send at once after a period without requests",
    ),
  }).describe("Rate limit of the API key"),
  location: object({
    id: field.uuid("ID of the location"),
    name: displayedLocationName,
    application: posApplicationNameSchema,
    timezone: TimeZone,
    currencyCode: StoredCurrency,
    isSandbox: field.boolean("Whether the location is a sandbox"),
  })
    .nullable()
    .describe("Location to which the API key gives access; null for an operator's key"),
}).meta({
  id: "CurrentApiKey",
  description: "The API key that sent the request: what it may do, for which location, and until when",
  example: {
    id: "5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
    prefix: "pragma_4fGh2Kq",
    createdAt: "2026-05-29T10:17:19.000Z",
    expiresAt: null,
    consumer: { id: "0b0c1a7e-5f5e-4a51-9d6b-0a1f6b1f7c22", name: "Acme" },
    scopes: [...defaultApiConsumerScopes],
    rateLimit: { perSecond: 100, burst: 2_000 },
    location: {
      id: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
      name: "Le Bistrot",
      application: "POPINA",
      timezone: "Europe/Paris",
      currencyCode: "EUR",
      isSandbox: false,
    },
  },
});

export type CurrentApiKey = z.infer<typeof CurrentApiKey>;

/** A key that expires sooner than this announces it in the header `api-key-expires-at` of each response. */
export const keyExpiryNoticeMs = 14 * 24 * 3_600_000;
