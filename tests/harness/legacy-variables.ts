import type { FakeLegacyBackoffice } from "./fake-legacy-backoffice.ts";

/** What a product needs to know of the legacy backoffice of POPINA. That of JALIA it does not know. */
export function legacyBackofficeVariables({ url, token }: FakeLegacyBackoffice): Record<string, string> {
  return { LEGACY_POPINA_URL: url, LEGACY_POPINA_TOKEN: token, LEGACY_TIMEOUT_SECONDS: "1" };
}
