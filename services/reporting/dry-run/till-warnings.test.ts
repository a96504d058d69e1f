import { describe, expect, it } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { findTillWarnings } from "./till-warnings.ts";

const warningsOf = (...movements: ["cash-in" | "cash-out" | "deposit" | "customerAccount", number][]) => {
  const financialMovementList = movements.map(([type, amount]) => ({ type, amount, name: "Motif" }));
  return findTillWarnings(computeTestTillReport([], { financialMovementList }).reportV2);
};

describe("warnings of a dry run", () => {
  it("name each movement whose sign contradicts its type, and state how to correct it", () => {
    expect(warningsOf(["cash-out", -1_995], ["cash-out", 1_995], ["cash-in", -50])).toEqual([
      {
        path: "financialMovementList[1].amount",
        code: "movement_sign",
        message: expect.stringContaining("send -1995"),
      },
      { path: "financialMovementList[2].amount", code: "movement_sign", message: expect.stringContaining("send 50") },
    ]);
  });

  it("leave out movements of other types, which can be refunds, and movements of 0", () => {
    expect(warningsOf(["deposit", -500], ["customerAccount", -500], ["cash-in", 0], ["cash-out", 0])).toEqual([]);
  });

  it("are at most 100", () => {
    expect(warningsOf(...Array.from({ length: 150 }, (): ["cash-out", number] => ["cash-out", 1]))).toHaveLength(100);
  });
});
