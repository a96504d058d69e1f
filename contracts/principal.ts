import { array, object, z } from "zod";
import { RateLimit } from "./api-consumer.ts";
import { UtcDateTimeSchema } from "./date-time.ts";
import { posApplicationNames } from "./pos-application.ts";

/** The fields of a location that other services need. */
export const LocationRef = object({
  id: z.guid(),
  application: z.enum(posApplicationNames),
  legacyId: z.int().min(1).nullable(),
  timeZone: z.string(),
  /** Present and true for the location of a sandbox, to which lower limits apply. */
  isSandbox: z.literal(true).optional(),
});

export type LocationRef = z.infer<typeof LocationRef>;

/** A location that a service looks up by its id, with its currency. */
export const LocationRefWithCurrency = LocationRef.extend({ currencyCode: z.string().nullable() });

export type LocationRefWithCurrency = z.infer<typeof LocationRefWithCurrency>;

/** The most ids in one request for the names of locations. */
export const maxNamedLocations = 100;

/** What lists state about locations that they know only by their ids. Removed locations are missing. */
export const NamedLocations = object({
  locations: array(object({ id: z.guid(), name: z.string().nullable(), isSandbox: z.boolean() })),
});

/** The consumer, location and permissions of an API key. Also returned for a revoked key, with `revokedAt` set. */
export const ResolvedApiKey = object({
  /** The id of the key. Logs use it to distinguish the keys of a consumer. */
  keyId: z.guid(),
  consumer: z.string(),
  scopes: array(z.string()),
  location: LocationRef.nullable(),
  rateLimit: RateLimit.nullable(),
  revokedAt: UtcDateTimeSchema.nullable(),
  /** When the key stops working; null if never. */
  expiresAt: UtcDateTimeSchema.nullable(),
});

export type ResolvedApiKey = z.infer<typeof ResolvedApiKey>;

/**
 * The authenticated client of a request. The gateway sends the principal, with a signature, to the services.
 *
 * Contains the fields of the location that services need, so that services do not have to store locations.
 */
export const principalSchema = ResolvedApiKey.pick({ keyId: true, consumer: true, scopes: true, location: true });

export type Principal = z.infer<typeof principalSchema>;
