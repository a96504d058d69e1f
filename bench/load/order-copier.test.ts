import { expect, it } from "vitest";
import { createBenchOrderBodyGenerator } from "./bench-order-body-generator.ts";

it("replaces the id and the revision hash everywhere in an order, and nothing else", () => {
  const before = { id: "11111111-1111-4111-8111-111111111111", revisionHash: "22222222-2222-4222-8222-222222222222" };
  const after = { id: "33333333-3333-4333-8333-333333333333", revisionHash: "44444444-4444-4444-8444-444444444444" };
  const order = (of: typeof before) => ({ ...of, tillId: "t", data: { ...of, name: "a" } });
  expect(JSON.parse(createBenchOrderBodyGenerator(JSON.stringify(order(before)))(after))).toEqual([order(after)]);
});
