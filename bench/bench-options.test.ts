import { expect, it } from "vitest";
import { readBenchOptions } from "./bench-options.ts";

it("measures everything in full unless told otherwise", () => {
  expect(readBenchOptions([], ["a", "b"])).toEqual({ only: undefined, quick: false, profile: false });
});

it("measures the rows that are named", () => {
  expect(readBenchOptions(["--only", "a, b", "--quick"], ["a", "b", "c"])).toMatchObject({
    only: ["a", "b"],
    quick: true,
  });
});

it("refuses rows that there are not, and options that there are not", () => {
  expect(() => readBenchOptions(["--only", "z"], ["a", "b"])).toThrow(/no row z\.\n.+ the rows are a, b\./);
  expect(() => readBenchOptions(["--fast"], ["a"])).toThrow("--fast");
});
