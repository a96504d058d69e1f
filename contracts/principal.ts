import type { z } from "zod";
import { KeyFacts } from "./account-lookups.ts";

/**
 * Who is asking, as the gateway signs it for the services: what accounts says of the key.
 *
 * It carries the facts of the key's location that services need, so that none of them depends on a copy of the
 * location having arrived.
 */
export const principalSchema = KeyFacts.pick({ keyId: true, consumer: true, scopes: true, location: true });

export type Principal = z.infer<typeof principalSchema>;
