import { defaultRateLimitConfigSchema, integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { apiKeyPrefix, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { z } from "zod";

export const accountsServiceConfigSchema = z.object({
  ...defaultRateLimitConfigSchema.shape,
  /** Days for which entries of the audit log are kept. The database rejects the deletion of newer ones than a year. */
  AUDIT_RETENTION_DAYS: integerEnvSchema(366, 36_500).default(730),
  /**
   * The operator's API key, with the scope admin. By default, the service creates one at its first start, which stays
   * valid. A changed value replaces the previous value, which is then revoked.
   */
  PRAGMA_ADMIN_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{16,255}$/, "must be 16 to 255 printable ASCII characters without spaces")
    .refine((key) => !key.startsWith(apiKeyPrefix) || isWellFormedApiKey(key), {
      error: `must not begin with ${apiKeyPrefix}, unless the whole value has the format of a generated API key`,
    })
    .optional(),
  /** Days after which the numbers of requests by minute are summed up by day, and only these sums remain. */
  USAGE_MINUTES_RETENTION_DAYS: integerEnvSchema(1, 366).default(7),
  /** Days for which the numbers of requests by day are kept. */
  USAGE_DAYS_RETENTION_DAYS: integerEnvSchema(1, 3_660).default(366),
  /** Days for which the last failed requests of each API key are kept. */
  FAILED_REQUESTS_RETENTION_DAYS: integerEnvSchema(1, 366).default(7),
});

export type AccountsServiceConfig = z.output<typeof accountsServiceConfigSchema>;
