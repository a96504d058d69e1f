import type { RateLimit } from "@pragma/contracts/api-consumer";
import { defaultRateLimitConfig } from "@pragma/runtime/config/runtime-config";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { Logger } from "@pragma/runtime/observability/logger";
import { apiKeyPrefix, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { z } from "zod";

/** What the accounts service is told besides what every service is. */
export const accountsConfig = z.object({
  ...defaultRateLimitConfig.shape,
  /**
   * The operator's own key, which may do everything. When none is given, one is made at the first start. Another one
   * than before takes the place of the one before.
   */
  PRAGMA_ADMIN_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{16,255}$/, "must be 16 to 255 printable ASCII characters without spaces")
    .refine((key) => !key.startsWith(apiKeyPrefix) || isWellFormedApiKey(key), {
      error: `must not begin with ${apiKeyPrefix}, unless it is an API key of this product whole`,
    })
    .optional(),
});

/** An entity as PostgreSQL gives it: its times are dates, which JSON writes as the contract has them. */
export type EntityRow<Entity> = {
  [Name in keyof Entity]: Name extends `${string}At` ? Exclude<Entity[Name], string> | Date : Entity[Name];
};

/** What the accounts service stands on. */
export interface AccountsContext {
  db: Database;
  log: Logger;
  /** The rate limit of a key whose consumer has none of its own. */
  defaultRateLimit: RateLimit;
}

export const defineRoute = createRouteDefiner<AccountsContext>();
