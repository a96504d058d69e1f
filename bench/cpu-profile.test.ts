import { expect, it } from "vitest";
import { computeFunctionSelfTimeShares } from "./cpu-profile.ts";

const frame = (id: number, functionName: string) => ({
  id,
  callFrame: { functionName, url: "", lineNumber: 0, columnNumber: 0 },
});

it("returns each function's share of the busy time after the start-up", () => {
  const nodes = [frame(1, "(idle)"), frame(2, "load"), frame(3, "parse"), frame(4, "write")];
  const samples = [2, 3, 1, 4, 3];
  const timeDeltas = [5_000_000, 1_000_000, 9_000_000, 1_000_000, 2_000_000];
  expect(computeFunctionSelfTimeShares({ nodes, samples, timeDeltas })).toEqual([
    { where: "parse", share: 0.75 },
    { where: "write", share: 0.25 },
  ]);
});
