import { apiKeyPrefix, hasKeyShape } from "@pragma/runtime/api-key";
import { defaultRateLimitConfig } from "@pragma/runtime/config";
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
    .refine((key) => !key.startsWith(apiKeyPrefix) || hasKeyShape(key), {
      error: `must not begin with ${apiKeyPrefix}, unless it is an API key of this product whole`,
    })
    .optional(),
});
