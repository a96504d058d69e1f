import type { ApiSchemaTypes } from "@pragma/client";
import { text } from "../text/text.ts";

export type ApiKey = ApiSchemaTypes["ApiKey"];

export type KeyTimes = Pick<ApiKey, "createdAt" | "revokedAt" | "expiresAt" | "overlapEndsAt">;
export type KeyStateName = keyof typeof text.keys.states;

/** A key that expires sooner is shown with a warning. */
const maxWarningMs = 14 * 86_400_000;
/** The part of a key's lifetime in which the warning is shown at most. A key of some weeks would always have it. */
const maxWarnedPart = 1 / 4;

/** Returns the state of a key, which changes with time. */
export function getKeyState(
  { createdAt, revokedAt, expiresAt, overlapEndsAt }: KeyTimes,
  now = Date.now(),
): KeyStateName {
  if (revokedAt !== null) return "revoked";
  if (expiresAt === null) return "active";
  const remainingMs = Date.parse(expiresAt) - now;
  if (remainingMs <= 0) return overlapEndsAt === expiresAt ? "replaced" : "expired";
  if (overlapEndsAt !== null) return "overlapping";
  const lifetimeMs = Date.parse(expiresAt) - Date.parse(createdAt);
  return remainingMs < Math.min(maxWarningMs, lifetimeMs * maxWarnedPart) ? "expiring" : "active";
}

/** Whether requests with the key succeed. */
export const isWorking = (apiKey: KeyTimes): boolean =>
  ["active", "expiring", "overlapping"].includes(getKeyState(apiKey));

/** The name of a key's location, as lists and confirmations state it. */
export const nameOfLocation = ({ locationId, locationName }: Pick<ApiKey, "locationId" | "locationName">): string =>
  locationId === null ? text.keys.noLocation : (locationName ?? text.keys.unnamedLocation(locationId.slice(0, 8)));
