import { numberFromEnv, runtimeConfig } from "@pragma/runtime/config";
import { z } from "zod";

export const catalogConfig = z.object({
  /** Signs what this service asks other parts of the product. */
  PRINCIPAL_KEYS: runtimeConfig.shape.PRINCIPAL_KEYS,
  /** Threads that parse and check large catalogues. */
  CATALOG_THREADS: numberFromEnv(z.number().int().min(1).max(64)).default(1),
  /** Memory of each of these threads. */
  CATALOG_HEAP_MB: numberFromEnv(z.number().int().min(64).max(16_384)).default(384),
});
