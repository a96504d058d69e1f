import { expect, it } from "vitest";
import { createBenchTillRequestGenerator } from "./bench-till-request-generator.ts";

it("replaces the ids of a till and its orders, and otherwise only its dates", () => {
  const till = {
    id: "11111111-1111-4111-8111-111111111111",
    orderList: [{ id: "22222222-2222-4222-8222-222222222222", name: "a" }],
    startedAt: "2026-03-01T23:00:00Z",
    finalizedAt: "2026-03-02T01:00:00Z",
  };
  const copy = createBenchTillRequestGenerator(JSON.stringify(till));
  const [first, second] = [copy(), copy()];
  const { id, orderList, startedAt, finalizedAt, ...rest } = JSON.parse(first.body);
  expect(id).toBe(first.id);
  expect(new Set([id, orderList[0].id, second.id, till.id, till.orderList[0]?.id]).size).toBe(5);
  expect({ ...rest, names: orderList.map(({ name }: { name: string }) => name) }).toEqual({ names: ["a"] });
  expect([startedAt, finalizedAt]).toEqual([till.startedAt, till.finalizedAt]);
  const days = [first, second, copy(), copy(), copy()].map(({ body }) => JSON.parse(body));
  expect(days.slice(0, 3).map((day) => day.startedAt)).toEqual(Array(3).fill(till.startedAt));
  expect(days[3]).toMatchObject({ startedAt: "2026-02-28T23:00:00Z", finalizedAt: "2026-03-01T01:00:00Z" });
});
