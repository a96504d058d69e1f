import { z } from "zod";
import { RateLimit } from "./api-consumer.ts";
import { UtcDateTime } from "./date-time.ts";
import { posApplications } from "./pos-application.ts";

/** What the accounts service answers when other parts of the product ask who or where something is. */

/** The facts of a location that others need. */
export const LocationRef = z.object({
  id: z.guid(),
  application: z.enum(posApplications),
  legacyId: z.int().min(1).nullable(),
  timeZone: z.string(),
});

export type LocationRef = z.infer<typeof LocationRef>;

/** What a key stands for: who, where, and what it may do. A revoked key is still known, as revoked. */
export const ResolvedKey = z.object({
  /** The key's id; tells keys of one consumer apart in logs. */
  keyId: z.guid(),
  consumer: z.string(),
  scopes: z.array(z.string()),
  /** The key's location; null for a key of the operator, which has none. */
  location: LocationRef.nullable(),
  rateLimit: RateLimit.nullable(),
  revokedAt: UtcDateTime.nullable(),
});

export type ResolvedKey = z.infer<typeof ResolvedKey>;

/**
 * Who is asking, as the gateway signs it for the services: what accounts says of the key.
 *
 * It carries the facts of the key's location that services need, so that none of them depends on a copy of the
 * location having arrived.
 */
export const principalSchema = ResolvedKey.pick({ keyId: true, consumer: true, scopes: true, location: true });

export type Principal = z.infer<typeof principalSchema>;
