import { ApiError, type ApiErrorCode } from "@pragma/contracts/errors";

/** The authentication scheme before the key. It is optional and case-insensitive. */
const bearerScheme = /^bearer(?: +|$)/i;

/** Returns the API key in an Authorization header, or undefined if the header is missing or contains no key. */
export function readApiKeyHeader(authorization: string | undefined): string | undefined {
  return authorization?.trim().replace(bearerScheme, "") || undefined;
}

/**
 * Returns the API key in an Authorization header.
 *
 * @throws `ApiError` key_missing if the header is missing or contains no key.
 */
export function requireApiKeyHeader(authorization: string | undefined): string {
  const credential = readApiKeyHeader(authorization);
  if (!credential) throw createAuthenticationError("key_missing");
  return credential;
}

const authenticationErrorDetails: Partial<Record<ApiErrorCode, string>> = {
  key_missing: "Send an API key in the Authorization header: Authorization: Bearer <key>.",
  key_invalid: "This API key does not exist. Check that you copied the whole key.",
  key_expired: "This API key has expired. Request a new one.",
  key_revoked: "This API key was revoked. Request a new one.",
};

/** Returns a 401 error with the `WWW-Authenticate` header, which HTTP requires for this status. */
export function createAuthenticationError(code: ApiErrorCode): ApiError {
  const detail = authenticationErrorDetails[code];
  return new ApiError(code, { ...(detail !== undefined && { detail }), headers: { "www-authenticate": "Bearer" } });
}
