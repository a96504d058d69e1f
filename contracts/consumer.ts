import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { limitedList, limitedText, storable } from "./fields.ts";
import { defaultScopes, scopeNames } from "./scopes.ts";

/** A consumer's name, unique among the consumers of its location, or of the operators. */
export const ConsumerName = limitedText(255, { min: 2 }).meta({ description: "Name of the consumer", example: "Acme" });

const Scopes = limitedList(z.enum(scopeNames, { error: `Must be one of: ${scopeNames.join(", ")}` }), 100)
  .overwrite((granted) => [...new Set(granted)])
  .meta({ description: "What its keys may do", example: [...defaultScopes] });

/** How many requests each key of a consumer may make: so many a second, and so many at once after a quiet time. */
export const RateLimit = z
  .object({
    perSecond: z.int().min(1).max(100_000).meta({ description: "Requests a second, over time", example: 50 }),
    burst: z.int().min(1).max(1_000_000).meta({ description: "Requests at once, after a quiet time", example: 200 }),
  })
  .meta({ id: "RateLimit", description: "How many requests a key may make" });

export type RateLimit = z.infer<typeof RateLimit>;

const rateLimit = RateLimit.nullable().meta({ description: "Null: the limit that every key has by default" });

/** Whoever integrates with this API: keys are made for a consumer, and may do what its scopes allow. */
export const Consumer = z
  .object({
    id: z.guid().meta({ description: "Id of the consumer" }),
    createdAt: UtcDateTime.meta({ description: "When it was made" }),
    updatedAt: UtcDateTime.meta({ description: "When it was last changed" }),
    locationId: z
      .guid()
      .nullable()
      .meta({ description: "The location whose key created it; null for a consumer of the operators" }),
    name: ConsumerName,
    scopes: Scopes,
    rateLimit,
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
      scopes: [...defaultScopes],
      rateLimit: null,
    },
  });

export type Consumer = z.infer<typeof Consumer>;

export const CreateConsumer = storable(z.object({ name: ConsumerName })).meta({
  id: "CreateConsumer",
  description: "The name of a new consumer, which no other of its location, or of the operators, has",
  example: { name: "Acme" },
});

/** What to change of a consumer; what is left out stays. */
export const ChangeConsumer = z
  .object({ scopes: Scopes, rateLimit })
  .partial()
  .meta({
    id: "ChangeConsumer",
    description: "What to change; what is left out stays",
    example: { scopes: [...defaultScopes, "tills:write"], rateLimit: { perSecond: 100, burst: 400 } },
  });

export type ChangeConsumer = z.infer<typeof ChangeConsumer>;
