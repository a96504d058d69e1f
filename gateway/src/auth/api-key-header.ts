/** `Bearer` before the key may be left out, and may be written in any case. */
const bearerScheme = /^bearer(?: +|$)/i;

/** Returns what an authorization header carries as a key; undefined where it carries nothing. */
export function readApiKeyHeader(authorization: string | undefined): string | undefined {
  return authorization?.trim().replace(bearerScheme, "") || undefined;
}
