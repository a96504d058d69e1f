import { expect, it } from "vitest";
import { createBenchTillRequestGenerator } from "./bench-till-request-generator.ts";

it("replaces the ids of a till and its orders, and nothing else", () => {
  const till = {
    id: "11111111-1111-4111-8111-111111111111",
    orderList: [{ id: "22222222-2222-4222-8222-222222222222", name: "a" }],
  };
  const copy = createBenchTillRequestGenerator(JSON.stringify(till));
  const [first, second] = [copy(), copy()];
  const { id, orderList, ...rest } = JSON.parse(first.body);
  expect(id).toBe(first.id);
  expect(new Set([id, orderList[0].id, second.id, till.id, till.orderList[0]?.id]).size).toBe(5);
  expect({ ...rest, names: orderList.map(({ name }: { name: string }) => name) }).toEqual({ names: ["a"] });
});
