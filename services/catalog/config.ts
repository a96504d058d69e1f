import { numberFromEnv } from "@pragma/runtime/config";
import { z } from "zod";

export const catalogConfig = z.object({
  /** Threads that parse and check large catalogues. */
  CATALOG_THREADS: numberFromEnv(z.number().int().min(1).max(64)).default(1),
});
