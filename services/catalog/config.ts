import { integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { z } from "zod";

export const catalogConfig = z.object({
  /** Bytes of changed catalogs that a location may send in a day. The default allows 1,000 changes of 2 MB. */
  CATALOG_BYTES_PER_DAY: integerEnvSchema(1).default(2_000_000_000),
  /** Heap limit of the thread that parses and checks large catalogs. */
  CATALOG_HEAP_MB: integerEnvSchema(64, 16_384).default(384),
});
