import { type Application, applications } from "@pragma/contracts/application";
import { numberFromEnv } from "@pragma/runtime/config";
import { z } from "zod";

const baseUrl = z.url({ protocol: /^https?$/, error: "must be a http:// or https:// URL" }).optional();
const token = z.string().min(1).optional();

/** Where legacy backoffices are, and how they are asked. */
export const legacyConfig = {
  LEGACY_POPINA_URL: baseUrl,
  LEGACY_POPINA_TOKEN: token,
  LEGACY_JALIA_URL: baseUrl,
  LEGACY_JALIA_TOKEN: token,
  /** For each request. */
  LEGACY_TIMEOUT_SECONDS: numberFromEnv(z.number().int().min(1).max(20)).default(5),
  /** Tills of one call that are fetched at a time. */
  LEGACY_CONCURRENCY: numberFromEnv(z.number().int().min(1).max(32)).default(4),
};

type LegacyConfig = z.output<z.ZodObject<typeof legacyConfig>>;

/** The backoffice of an application. */
export interface LegacyAddress {
  /** Without a slash at its end. */
  base: string;
  token: string | undefined;
}

/** What is needed to ask legacy backoffices. */
export interface LegacySettings {
  addresses: Partial<Record<Application, LegacyAddress>>;
  /** For each request, in milliseconds. */
  timeout: number;
  concurrency: number;
}

export function legacySettings(config: LegacyConfig): LegacySettings {
  const addresses: LegacySettings["addresses"] = {};
  for (const application of applications) {
    const url = config[`LEGACY_${application}_URL`];
    if (url) addresses[application] = { base: url.replace(/\/+$/, ""), token: config[`LEGACY_${application}_TOKEN`] };
  }
  return { addresses, timeout: config.LEGACY_TIMEOUT_SECONDS * 1000, concurrency: config.LEGACY_CONCURRENCY };
}
