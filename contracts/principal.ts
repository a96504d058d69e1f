import { z } from "zod";
import { applications } from "./application.ts";

/**
 * Who is asking, as the gateway signs it for the services.
 *
 * It carries the facts of the key's location that services need, so that none of them depends on a copy of the
 * location having arrived.
 */
export const principalSchema = z.object({
  /** The key's id; tells keys of one consumer apart in logs. */
  keyId: z.guid(),
  consumer: z.string(),
  scopes: z.array(z.string()),
  /** The key's location; null for a key of the operator, which has none. */
  location: z
    .object({
      id: z.guid(),
      application: z.enum(applications),
      legacyId: z.int().nullable(),
      timeZone: z.string(),
    })
    .nullable(),
});

export type Principal = z.infer<typeof principalSchema>;
