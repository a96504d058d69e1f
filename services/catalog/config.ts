import { integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { z } from "zod";

export const catalogServiceConfigSchema = z.object({
  /** Maximum total bytes of changed catalogs that a location may send per day. By default, 1,000 changes of 2 MB. */
  MAX_CATALOG_BYTES_PER_DAY: integerEnvSchema(1).default(2_000_000_000),
  /** Maximum heap of the worker thread that parses and validates large catalogs, in megabytes. */
  CATALOG_READER_HEAP_MB: integerEnvSchema(64, 16_384).default(384),
});
