import { expect, it } from "vitest";
import { sleep } from "../concurrency/sleep.ts";
import { buildTestPrincipal } from "../testing/test-service.ts";
import { createdAtCursorSchema, createPageResponse } from "./page-response.ts";

it("a location reads four pages at a time with all its keys, and does not delay others", async () => {
  const busy = buildTestPrincipal();
  const active = new Map<string, number>();
  let maximum = 0;
  const finished: string[] = [];
  const readPage = (principal: typeof busy) => {
    const locationId = principal.location?.id ?? "";
    const url = new URL("http://pragma.test/v1/things/");
    return createPageResponse(
      { query: { index: 0, size: 10 }, locationId, principal, url, origin: url.origin },
      createdAtCursorSchema,
      async () => {
        active.set(locationId, (active.get(locationId) ?? 0) + 1);
        maximum = Math.max(maximum, active.get(locationId) ?? 0);
        await sleep(10);
        active.set(locationId, (active.get(locationId) ?? 0) - 1);
        finished.push(locationId);
        return { items: [], total: 0, last: null };
      },
    );
  };
  const other = buildTestPrincipal();
  const keys = Array.from({ length: 20 }, (_, index) => ({ ...busy, keyId: `key ${index}` }));
  await Promise.all([...keys.map(readPage), readPage(other)]);
  expect(maximum).toBe(4);
  expect(finished).toHaveLength(21);
  expect(finished.indexOf(other.location?.id ?? "")).toBeLessThan(5);
});
