import { expect, it } from "vitest";
import { getKeyState } from "./api-key.ts";

const now = Date.parse("2026-06-01T00:00:00.000Z");
const inDays = (days: number) => new Date(now + days * 86_400_000).toISOString();

it.each([
  ["active", { expiresAt: null }],
  ["active", { expiresAt: inDays(15) }],
  ["expiring", { expiresAt: inDays(13) }],
  ["active", { createdAt: inDays(0), expiresAt: inDays(14) }],
  ["active", { createdAt: inDays(-10), expiresAt: inDays(4) }],
  ["expiring", { createdAt: inDays(-11), expiresAt: inDays(3) }],
  ["expired", { expiresAt: inDays(-1) }],
  ["overlapping", { expiresAt: inDays(20), overlapEndsAt: inDays(20) }],
  ["replaced", { expiresAt: inDays(-1), overlapEndsAt: inDays(-1) }],
  ["expired", { expiresAt: inDays(-1), overlapEndsAt: inDays(1) }],
  ["revoked", { expiresAt: inDays(20), revokedAt: inDays(-1) }],
])("is %s with %o", (state, times) => {
  expect(getKeyState({ createdAt: inDays(-300), overlapEndsAt: null, revokedAt: null, ...times }, now)).toBe(state);
});
