/** `Bearer` before the key may be left out, and may be written in any case. */
const scheme = /^bearer(?: +|$)/i;

/** Returns what an authorization header carries as a key; undefined where it carries nothing. */
export function findCredential(authorization: string | undefined): string | undefined {
  return authorization?.trim().replace(scheme, "") || undefined;
}
